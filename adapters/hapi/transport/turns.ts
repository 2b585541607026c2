/**
 * One request at a time on each connection: a request sent behind another waits until the other has been answered and
 * its bytes are with the system. So a connection that pipelines hundreds of requests has no more of the service than
 * one that asks once, and no answer waits, made and unread, for another's reader. What was sent behind a request whose
 * answer closes the connection is never begun (RFC 9112 9.6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Waiting requests from which nothing more is read. One reading holds a few thousand requests at most. */
const MOST_WAITING = 64;
/** Waiting requests from which a connection is cut: more than one reading can hold. */
const MOST_READ = 8_192;

interface Line {
  busy: boolean;
  /** The response to the last request. */
  last: ServerResponse;
  readonly waiting: { res: ServerResponse; begin: () => void }[];
}

export class Turns {
  readonly #lines = new WeakMap<Duplex, Line>();

  /** Calls `begin` when the request's turn has come; never, when its connection breaks before. */
  take({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    let line = this.#lines.get(socket);
    if (line === undefined) this.#lines.set(socket, (line = { busy: false, last: res, waiting: [] }));
    line.last = res;
    if (!line.busy) return this.#begin(line, socket, res, begin);
    line.waiting.push({ res, begin });
    if (line.waiting.length > MOST_READ) socket.destroy();
    else if (line.waiting.length >= MOST_WAITING) socket.pause();
  }

  /** The response to the last request of a connection. */
  last(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.last;
  }

  #begin(line: Line, socket: Duplex, res: ServerResponse, begin: () => void): void {
    line.busy = true;
    // Registered before all other listeners: a stop that waits for all open requests must not miss the next one.
    res.once('close', () => this.#next(line, socket, res));
    begin();
  }

  #next(line: Line, socket: Duplex, answered: ServerResponse): void {
    line.busy = false;
    if (socket.destroyed || !answered.shouldKeepAlive) line.waiting.length = 0;
    const next = line.waiting.shift();
    if (line.waiting.length < MOST_WAITING && socket.isPaused()) socket.resume();
    if (next !== undefined) this.#begin(line, socket, next.res, next.begin);
  }
}
