import { getOpenFailureReason } from '../driver/driver.js';
import { unwrapOutcome, type RequestOutcome, type StorageRequest } from './messages.js';

export interface RequestExecutor {
  /** @throws the error that prevents opening the file */
  start(): Promise<void>;
  call(request: StorageRequest): Promise<unknown>;
  close(): Promise<void>;
}

export interface RequestService<R extends StorageRequest> {
  answer: (batch: readonly R[]) => readonly RequestOutcome[];
  close: () => void;
  /** Maximum requests per batch, which bounds the wait for other requests. */
  most: number;
}

export interface PendingRequest {
  request: StorageRequest;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

export type FailureListener = (error: unknown) => void;

/** @param outcomes one per call */
export function settleCalls(
  calls: readonly PendingRequest[],
  outcomes: readonly RequestOutcome[],
  failed?: FailureListener,
): void {
  for (const [i, { resolve, reject }] of calls.entries()) {
    try {
      resolve(unwrapOutcome(outcomes[i] as RequestOutcome));
    } catch (error) {
      failed?.(error);
      reject(error);
    }
  }
}

/** libsql's own errors leave a worker as plain objects. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const { message, code } = (thrown ?? {}) as { message?: unknown; code?: unknown };
  return new Error([message, code].find((text) => typeof text === 'string' && text !== '') as string | undefined);
}

export function createOpenError(path: string, cause: unknown): Error {
  return new Error(
    `cannot open ${path}: ${getOpenFailureReason(cause) ?? toError(cause).message}; run aos doctor for a fix`,
    {
      cause,
    },
  );
}
