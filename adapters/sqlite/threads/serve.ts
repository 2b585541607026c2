/**
 * A worker's side of pool.ts: `ready` once, then answers in the order of the requests; `close` closes the connection
 * and ends the worker. Messages that have arrived meanwhile are answered together, up to `most` requests.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { Outcome, Request } from './messages.js';

export const CLOSE = 'close';
export const READY = 'ready';

type Message<R> = readonly R[] | typeof CLOSE;

export interface Answers<R extends Request> {
  /** An answer. A promise keeps its caller waiting, and all callers after that one. */
  answer: (batch: readonly R[]) => readonly Outcome[] | Promise<readonly Outcome[]>;
  /** Buffers of the outcomes that are handed over instead of copied. */
  transfer?: (outcomes: readonly Outcome[]) => ArrayBuffer[];
  close: () => void;
  /** Requests answered together at most: bounds how long one waits for its neighbours. */
  most: number;
}

export function serve<R extends Request>(port: MessagePort, { answer, transfer, close, most }: Answers<R>): void {
  const end = (): void => {
    close();
    port.close();
  };
  const send = (outcomes: readonly Outcome[], closing: boolean): void => {
    port.postMessage(outcomes, transfer?.(outcomes) ?? []);
    if (closing) end();
  };
  /** Messages that have left the port, and wait for their turn: no newer one may overtake them. */
  const held: Message<R>[] = [];
  let waiting = false;
  const next = (): Message<R> | undefined => {
    const message = held.shift();
    return message === undefined ? (receiveMessageOnPort(port)?.message as Message<R> | undefined) : message;
  };
  /** False: no message waits. */
  const take = (): boolean => {
    const batch: R[] = [];
    let closing = false;
    while (batch.length < most && !closing) {
      const message = next();
      if (message === undefined) break;
      if (message === CLOSE) closing = true;
      else batch.push(...message);
    }
    if (batch.length === 0) {
      if (closing) end();
      return false;
    }
    const outcomes = answer(batch);
    if (outcomes instanceof Promise) {
      void wait(outcomes, closing);
      return false;
    }
    send(outcomes, closing);
    return held.length > 0;
  };
  const takeAll = (): void => {
    for (let more = held.length > 0; more;) more = take();
  };
  const wait = async (outcomes: Promise<readonly Outcome[]>, closing: boolean): Promise<void> => {
    waiting = true;
    send(await outcomes, closing);
    waiting = false;
    takeAll();
  };
  port.on('message', (message: Message<R>) => {
    held.push(message);
    if (!waiting) takeAll();
  });
  port.postMessage(READY, []);
}
