/** Redirects are not followed, because they could leak the token. */
import { sendRequest } from '../../lib/http/send-request.js';

export interface OutgoingRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: AsyncIterable<Uint8Array>;
  /** Time limit until the response begins, counted from the last byte sent. */
  answerMs: number;
}

export interface ReceivedHttpResponse {
  status: number;
  location: string | null;
  text: string;
}

/** A history with tens of thousands of releases has several megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;
const BODY_TIMEOUT_MS = 60_000;

/** @throws Error without a complete response */
export async function sendHttpRequest(
  url: URL,
  { method, headers, body, answerMs }: OutgoingRequest,
): Promise<ReceivedHttpResponse> {
  const answer = await sendRequest(url, {
    method,
    headers,
    ...(body && { body }),
    env: process.env,
    responseTimeoutMs: answerMs,
    bodyTimeoutMs: BODY_TIMEOUT_MS,
  });
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`a response of more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return {
    status: answer.status,
    location: answer.headers.location ?? null,
    text: Buffer.concat(parts).toString(),
  };
}
