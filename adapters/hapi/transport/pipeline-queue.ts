/**
 * A pipelining client gets no more than others. Requests after a closing response are never started
 * (RFC 9112 9.6).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Waiting requests at which reading pauses. */
const MAX_WAITING_REQUESTS = 64;
/** Waiting requests at which the connection is cut; more than one read can yield. */
const MAX_QUEUED_REQUESTS = 8_192;

interface RequestQueue {
  busy: boolean;
  last: ServerResponse;
  readonly waiting: { res: ServerResponse; begin: () => void }[];
}

export class PipelineQueue {
  readonly #lines = new WeakMap<Duplex, RequestQueue>();

  /** Never if the connection breaks before. */
  enqueue({ socket }: IncomingMessage, res: ServerResponse, begin: () => void): void {
    let line = this.#lines.get(socket);
    if (line === undefined) this.#lines.set(socket, (line = { busy: false, last: res, waiting: [] }));
    line.last = res;
    if (!line.busy) return this.#start(line, socket, res, begin);
    line.waiting.push({ res, begin });
    if (line.waiting.length > MAX_QUEUED_REQUESTS) socket.destroy();
    else if (line.waiting.length >= MAX_WAITING_REQUESTS) socket.pause();
  }

  getLastResponse(socket: Duplex): ServerResponse | undefined {
    return this.#lines.get(socket)?.last;
  }

  #start(line: RequestQueue, socket: Duplex, res: ServerResponse, begin: () => void): void {
    line.busy = true;
    // First of all listeners, so that a stop sees the next request.
    res.once('close', () => this.#startNext(line, socket, res));
    begin();
  }

  #startNext(line: RequestQueue, socket: Duplex, answered: ServerResponse): void {
    line.busy = false;
    if (socket.destroyed || !answered.shouldKeepAlive) line.waiting.length = 0;
    const next = line.waiting.shift();
    if (line.waiting.length < MAX_WAITING_REQUESTS && socket.isPaused()) socket.resume();
    if (next !== undefined) this.#start(line, socket, next.res, next.begin);
  }
}
