/** A worker's side of pool.ts: `ready` once, then one answer per message; `close` closes the connection and ends the worker. */
import type { MessagePort } from 'node:worker_threads';
import type { Outcome, Request } from './messages.js';

export const CLOSE = 'close';
export const READY = 'ready';

interface Service<R extends Request> {
  answer: (batch: readonly R[]) => Outcome[];
  close: () => void;
}

export function serve<R extends Request>(port: MessagePort, { answer, close }: Service<R>): void {
  port.on('message', (message: readonly R[] | typeof CLOSE) => {
    if (message !== CLOSE) return port.postMessage(answer(message), []);
    close();
    port.close();
  });
  port.postMessage(READY, []);
}
