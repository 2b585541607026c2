/** One request and its result. Hosts send it: node/http.ts, browser/http.ts. */

export interface ServiceRequest {
  method: 'GET' | 'POST';
  url: URL;
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
  signal?: AbortSignal;
  /** True when the process may end during the request. */
  background?: boolean;
}

export interface Exchange {
  status: number | null;
  /** Parsed JSON object; null for everything else. */
  body: Record<string, unknown> | null;
  /** Why there is no complete response. */
  fault: string | null;
  /** Seconds of the server's Retry-After. */
  retryAfter: number | null;
}

export type Transport = (question: ServiceRequest) => Promise<Exchange>;

/** Large, because a check may contain the manifest of a large package. */
export const MAX_RESPONSE_LENGTH = 64 * 1024 * 1024;

export const createFailedExchange = (fault: string): Exchange => ({
  status: null,
  body: null,
  fault,
  retryAfter: null,
});

/** @param retryAfter the header's text */
export function createExchange(status: number, retryAfter: string | null | undefined, text: string): Exchange {
  const seconds = Number(retryAfter);
  return {
    status,
    body: parseJsonObject(text),
    fault: null,
    retryAfter: Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  };
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** Returns the rejection of an abort. */
export function getAbortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('This operation was aborted', 'AbortError');
}

export function getErrorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(getErrorText).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}
