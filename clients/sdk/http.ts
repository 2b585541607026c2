/**
 * One request to the service. Never rejects but by the caller's own abort: what went wrong is a fault, which is judged with
 * everything else (verdict.ts). No redirect is followed. Node's own client and not `fetch`, because only its sockets can be
 * let go of: work in the background must not keep the application's process alive.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface Question {
  method: 'GET' | 'POST';
  url: URL;
  token?: string | null;
  /** Sent as JSON. */
  body?: unknown;
  timeoutMs: number;
  signal?: AbortSignal;
  /** The process may end while this is under way. */
  background?: boolean;
}

export interface Exchange {
  /** Null: no whole answer came. */
  status: number | null;
  /** Of JSON; null for everything else. */
  body: Record<string, unknown> | null;
  /** Why no whole answer came. */
  fault: string | null;
  /** Seconds that the server asked to be left alone for. */
  retryAfter: number | null;
}

export type Transport = (question: Question) => Promise<Exchange>;

/** A check may hold the manifest of a large package. */
const LONGEST_ANSWER = 64 * 1024 * 1024;

export const failed = (fault: string): Exchange => ({ status: null, body: null, fault, retryAfter: null });

export const exchange: Transport = (question) =>
  new Promise((resolve, reject) => {
    const { signal, timeoutMs, background = false } = question;
    if (signal?.aborted === true) return reject(reasonOf(signal));
    let request: ClientRequest | null = null;
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      settle();
      request?.destroy();
    };
    const end = (fault: string): void => finish(() => resolve(failed(fault)));
    const onAbort = (): void => finish(() => reject(reasonOf(signal)));
    const timer = setTimeout(() => end(`no answer within ${timeoutMs} ms`), timeoutMs);
    if (background) timer.unref();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      request = open(question);
    } catch (error) {
      return end(textOf(error));
    }
    if (background) request.on('socket', (socket) => socket.unref());
    request.on('error', (error) => end(textOf(error)));
    request.on('response', (response) => {
      read(response).then(
        (text) => finish(() => resolve(readAnswer(response, text))),
        (error: unknown) => end(textOf(error)),
      );
    });
  });

function open({ method, url, token = null, body }: Question): ClientRequest {
  const text = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method,
    // A socket of its own: one that is kept open for later is what a restarted server answers with a reset.
    agent: false,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(text !== null && { 'content-type': 'application/json', 'content-length': text.length }),
    },
  });
  request.end(text ?? undefined);
  return request;
}

async function read(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > LONGEST_ANSWER) throw new Error('the answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function readAnswer({ statusCode = 0, headers }: IncomingMessage, text: string): Exchange {
  const seconds = Number(headers['retry-after']);
  return {
    status: statusCode,
    body: parsed(text),
    fault: null,
    retryAfter: Number.isFinite(seconds) && seconds > 0 ? seconds : null,
  };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch {
    return null;
  }
}

/** What an abort rejects with. */
export function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException('This operation was aborted', 'AbortError');
}

export function textOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(textOf).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}
