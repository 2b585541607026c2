/**
 * A worker's side of pool.ts: `ready` once, then answers in the order of the requests; `close` closes the connection and ends
 * the worker. Messages that have arrived meanwhile are answered together, up to `most` requests.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import type { Outcome, Request } from './messages.js';

export const CLOSE = 'close';
export const READY = 'ready';

type Message<R> = readonly R[] | typeof CLOSE;

interface Service<R extends Request> {
  /** A promise keeps the caller waiting, and all who come after it. */
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
  const send = (outcomes: readonly Outcome[], closing: boolean): void => {
    port.postMessage(outcomes, transfer?.(outcomes) ?? []);
    if (closing) end();
  };
  /** Messages that came while an answer was being waited for. */
  let held: Message<R>[] | null = null;
  const take = (first: Message<R>): void => {
    if (held !== null) return void held.push(first);
    if (first === CLOSE) return end();
    const batch = [...first];
    let closing = false;
    while (batch.length < most && !closing) {
      const waiting = receiveMessageOnPort(port);
      if (waiting === undefined) break;
      const message: Message<R> = waiting.message;
      if (message === CLOSE) closing = true;
      else batch.push(...message);
    }
    const outcomes = answer(batch);
    if (outcomes instanceof Promise) void wait(outcomes, closing);
    else send(outcomes, closing);
  };
  const wait = async (outcomes: Promise<readonly Outcome[]>, closing: boolean): Promise<void> => {
    held = [];
    send(await outcomes, closing);
    const waited = held;
    held = null;
    for (const message of waited) take(message);
  };
  port.on('message', take);
  port.postMessage(READY, []);
}
