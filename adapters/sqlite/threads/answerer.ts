/** Where requests go: threads, or none. */
import { reasonOf } from '../driver/driver.js';
import type { Request } from './messages.js';

export interface Answerer {
  /** @throws what keeps it from opening the file */
  start(): Promise<void>;
  call(request: Request): Promise<unknown>;
  /** Waits until every request is answered. */
  close(): Promise<void>;
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
