/**
 * One request to the service, with a body that is streamed. No redirect is followed: it would take the token elsewhere.
 * Proxies come from the environment (HTTPS_PROXY, HTTP_PROXY, NO_PROXY), which node's own `fetch` ignores.
 */
import { Readable } from 'node:stream';
import type { Dispatcher, request as Request } from 'undici';

export interface OutgoingRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: AsyncIterable<Uint8Array>;
  /** Until the answer begins, counted from the last byte that was sent. */
  answerMs: number;
}

export interface HttpAnswer {
  status: number;
  location: string | null;
  text: string;
}

/** A history with tens of thousands of releases has a few megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;
const BODY_MS = 60_000;

/** Said outright, so that NODE_TLS_REJECT_UNAUTHORIZED has no effect on what carries a token. */
const TLS = { rejectUnauthorized: true };
let client: Promise<{ request: typeof Request; dispatcher: Dispatcher }> | undefined;

/** Loaded with the first request: `--dry-run` has none. */
async function clientOf(): Promise<{ request: typeof Request; dispatcher: Dispatcher }> {
  const { EnvHttpProxyAgent, request } = await import('undici');
  return { request, dispatcher: new EnvHttpProxyAgent({ connect: TLS, requestTls: TLS, proxyTls: TLS }) };
}

/** @throws Error when no whole answer came */
export async function send(url: URL, { method, headers, body, answerMs }: OutgoingRequest): Promise<HttpAnswer> {
  const { request, dispatcher } = await (client ??= clientOf());
  const answer = await request(url, {
    method,
    headers,
    dispatcher,
    headersTimeout: answerMs,
    bodyTimeout: BODY_MS,
    ...(body && { body: Readable.from(body, { objectMode: false }) }),
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  const { location } = answer.headers;
  return {
    status: answer.statusCode,
    location: typeof location === 'string' ? location : null,
    text: Buffer.concat(parts).toString(),
  };
}
