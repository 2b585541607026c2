/**
 * One request to the service. Never rejects but by the caller's own abort: what went wrong is a fault, which is judged
 * with everything else (verdict.ts). No redirect is followed. Node's own client and not `fetch`, because only its
 * sockets can be let go of: work in the background must not keep the application's process alive.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import {
  answered,
  failed,
  LONGEST_ANSWER,
  reasonOf,
  textOf,
  type ServiceRequest,
  type Transport,
} from '../transport.js';

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
        (text) => finish(() => resolve(answered(response.statusCode ?? 0, response.headers['retry-after'], text))),
        (error: unknown) => end(textOf(error)),
      );
    });
  });

function open({ method, url, token = null, body }: ServiceRequest): ClientRequest {
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
