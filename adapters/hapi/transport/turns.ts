/**
 * Serializes the requests of a connection, so that a pipelining client gets no more than others.
 * Requests after a closing response are never started (RFC 9112 9.6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Waiting requests at which reading pauses. One read yields a few thousand requests at most. */
const MOST_WAITING = 64;
/** Waiting requests at which the connection is cut; more than one read can yield. */
const MOST_READ = 8_192;

interface Line {
  busy: boolean;
  last: ServerResponse;
  readonly waiting: { res: ServerResponse; begin: () => void }[];
}

export class Turns {
  readonly #lines = new WeakMap<Duplex, Line>();

  /** Calls `begin` when it is the request's turn; never if the connection breaks before. */
  take({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    let line = this.#lines.get(socket);
    if (line === undefined) this.#lines.set(socket, (line = { busy: false, last: res, waiting: [] }));
    line.last = res;
    if (!line.busy) return this.#begin(line, socket, res, begin);
    line.waiting.push({ res, begin });
    if (line.waiting.length > MOST_READ) socket.destroy();
    else if (line.waiting.length >= MOST_WAITING) socket.pause();
  }

  last(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.last;
  }

  #begin(line: Line, socket: Duplex, res: ServerResponse, begin: () => void): void {
    line.busy = true;
    // Registered before all other listeners, so that a stop that waits for open requests sees the
    // next one.
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
