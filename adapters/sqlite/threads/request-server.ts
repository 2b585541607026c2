/**
 * Thread side of `WorkerExecutor`: sends `ready` once, then answers in request order; `close`
 * closes the connection and ends the thread.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { RequestService } from './executor.js';
import type { StorageRequest } from './messages.js';

export const CLOSE_MESSAGE = 'close';
export const READY_MESSAGE = 'ready';

type Message<R> = readonly R[] | typeof CLOSE_MESSAGE;

export function serveRequests<R extends StorageRequest>(
  port: MessagePort,
  { answer, close, most }: RequestService<R>,
): void {
  const waiting: R[] = [];
  let closing = false;
  const add = (message: Message<R>): void => {
    if (message === CLOSE_MESSAGE) closing = true;
    else waiting.push(...message);
  };
  const addNext = (): boolean => {
    const next = receiveMessageOnPort(port);
    if (next !== undefined) add(next.message as Message<R>);
    return next !== undefined;
  };
  port.on('message', (message: Message<R>) => {
    add(message);
    do {
      while (waiting.length < most && addNext());
      if (waiting.length > 0) port.postMessage(answer(waiting.splice(0, most)), []);
    } while (waiting.length > 0);
    if (!closing) return;
    close();
    port.close();
  });
  port.postMessage(READY_MESSAGE, []);
}
