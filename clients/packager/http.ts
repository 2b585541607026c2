/**
 * One request to the service, with a body that is streamed. No redirect is followed: it would take the token elsewhere.
 * Proxies come from the environment (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY).
 */
import { sendRequest } from '../../lib/http/send-request.js';

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

/** @throws Error when no whole answer came */
export async function send(url: URL, { method, headers, body, answerMs }: OutgoingRequest): Promise<HttpAnswer> {
  const answer = await sendRequest(url, {
    method,
    headers,
    ...(body && { body }),
    env: process.env,
    responseTimeoutMs: answerMs,
    bodyTimeoutMs: BODY_MS,
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return {
    status: answer.status,
    location: answer.headers.location ?? null,
    text: Buffer.concat(parts).toString(),
  };
}
