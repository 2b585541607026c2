/**
 * A worker's side of pool.ts: `ready` once, then answers in the order of the requests; `close` closes the connection and ends
 * the worker. Messages that have arrived meanwhile are answered together, up to `most` requests.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { Outcome, Request } from './messages.js';

export const CLOSE = 'close';
export const READY = 'ready';

interface Service<R extends Request> {
  /** A promise keeps the caller waiting, not the worker. */
  answer: (batch: readonly R[]) => readonly Outcome[] | Promise<readonly Outcome[]>;
  /** Buffers of the outcomes that are handed over instead of copied. */
  transfer?: (outcomes: readonly Outcome[]) => ArrayBuffer[];
  close: () => void;
  /** Requests answered together at most: bounds how long one waits for its neighbours. */
  most: number;
}

export function serve<R extends Request>(port: MessagePort, { answer, transfer, close, most }: Service<R>): void {
  const end = (): void => {
    close();
    port.close();
  };
  port.on('message', (first: readonly R[] | typeof CLOSE) => {
    if (first === CLOSE) return end();
    const batch = [...first];
    let closing = false;
    while (batch.length < most && !closing) {
      const waiting = receiveMessageOnPort(port);
      if (waiting === undefined) break;
      const message: readonly R[] | typeof CLOSE = waiting.message;
      if (message === CLOSE) closing = true;
      else batch.push(...message);
    }
    const outcomes = answer(batch);
    const send = (done: readonly Outcome[]): void => {
      port.postMessage(done, transfer?.(done) ?? []);
      if (closing) end();
    };
    if (outcomes instanceof Promise) void outcomes.then(send);
    else send(outcomes);
  });
  port.postMessage(READY, []);
}
