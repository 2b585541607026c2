/** Where requests go: a thread of their own, or the caller's. */
import { reasonOf } from '../driver/driver.js';
import { unwrap, type Outcome, type Request } from './messages.js';

export interface Executor {
  /** @throws what keeps it from opening the file */
  start(): Promise<void>;
  call(request: Request): Promise<unknown>;
  /** Waits until every request is answered. */
  close(): Promise<void>;
}

/** What answers requests, on whichever thread it runs. */
export interface RequestService<R extends Request> {
  /** One outcome per request, in order. */
  answer: (batch: readonly R[]) => readonly Outcome[];
  close: () => void;
  /** Requests answered together at most: bounds how long one waits for its neighbours. */
  most: number;
}

/** A request whose answer is waited for. */
export interface Call {
  request: Request;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Hears of each error of a request. */
export type FailureListener = (error: unknown) => void;

/** @param outcomes one per call, in their order */
export function settle(calls: readonly Call[], outcomes: readonly Outcome[], failed?: FailureListener): void {
  for (const [i, { resolve, reject }] of calls.entries()) {
    try {
      resolve(unwrap(outcomes[i] as Outcome));
    } catch (error) {
      failed?.(error);
      reject(error);
    }
  }
}

/** An error of libsql's own class comes out of a worker as a plain object. */
export function errorOf(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { message, code } = (thrown ?? {}) as { message?: unknown; code?: unknown };
  return new Error([message, code].find((text) => typeof text === 'string' && text !== '') as string | undefined);
}

export function cannotOpen(path: string, cause: unknown): Error {
  return new Error(`cannot open ${path}: ${reasonOf(cause) ?? errorOf(cause).message}; aos doctor says what to do`, {
    cause,
  });
}
