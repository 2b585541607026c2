import { reasonOf } from '../driver/driver.js';
import { unwrap, type Outcome, type Request } from './messages.js';

export interface Executor {
  /** @throws the error that prevents opening the file */
  start(): Promise<void>;
  call(request: Request): Promise<unknown>;
  close(): Promise<void>;
}

export interface RequestService<R extends Request> {
  answer: (batch: readonly R[]) => readonly Outcome[];
  close: () => void;
  /** Maximum requests per batch, which bounds the wait for other requests. */
  most: number;
}

export interface Call {
  request: Request;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export type FailureListener = (error: unknown) => void;

/** @param outcomes one per call, in order */
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

/** libsql's own errors leave a worker as plain objects. */
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
