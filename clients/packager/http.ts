/** One request to the service, with a body that is streamed. No redirect is followed: it would take the token elsewhere. */
import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface HttpRequest {
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string | number>>;
  body?: AsyncIterable<Uint8Array>;
  /** Without a byte in either direction. */
  idleMs: number;
}

export interface HttpAnswer {
  status: number;
  location: string | null;
  text: string;
}

/** A history with tens of thousands of releases has a few megabytes. */
const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

/** @throws Error when no whole answer came */
export async function send(url: URL, { method, headers, body, idleMs }: HttpRequest): Promise<HttpAnswer> {
  const start = url.protocol === 'https:' ? requestHttps : requestHttp;
  const request = start(url, { method, headers });
  request.setTimeout(idleMs, () => request.destroy(new Error(`no answer within ${idleMs / 1000} seconds`)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    // Stays for good: what fails after the answer has begun, such as the rest of the body, is of no interest.
    request.on('error', reject);
  });
  const sent = body === undefined ? undefined : pipeline(Readable.from(body), request);
  if (sent === undefined) request.end();
  // It ends the request, whose failure is seen below; an answer may also come before everything is sent.
  sent?.catch(() => undefined);
  const response = await answered;
  const text = await textOf(response);
  request.destroy();
  return { status: response.statusCode ?? 0, location: response.headers.location ?? null, text };
}

async function textOf(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}
