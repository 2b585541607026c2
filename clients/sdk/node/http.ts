/**
 * Rejects only when the caller aborts; failures are returned as a fault (verdict.ts). Redirects are
 * not followed.
 */
import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import {
  createExchange,
  createFailedExchange,
  MAX_RESPONSE_LENGTH,
  getAbortReason,
  getErrorText,
  type ServiceRequest,
  type Transport,
} from '../transport.js';

export const sendRequest: Transport = (question) =>
  new Promise((resolve, reject) => {
    const { signal, timeoutMs, background = false } = question;
    if (signal?.aborted === true) return reject(getAbortReason(signal));
    let request: ClientRequest | null = null;
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      settle();
      request?.destroy();
    };
    const end = (fault: string): void => finish(() => resolve(createFailedExchange(fault)));
    const onAbort = (): void => finish(() => reject(getAbortReason(signal)));
    const timer = setTimeout(() => end(`no response within ${timeoutMs} ms`), timeoutMs);
    if (background) timer.unref();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      request = openRequest(question);
    } catch (error) {
      return end(getErrorText(error));
    }
    if (background) request.on('socket', (socket) => socket.unref());
    request.on('error', (error) => end(getErrorText(error)));
    request.on('response', (response) => {
      readText(response).then(
        (text) =>
          finish(() => resolve(createExchange(response.statusCode ?? 0, response.headers['retry-after'], text))),
        (error: unknown) => end(getErrorText(error)),
      );
    });
  });

function openRequest({ method, url, token = null, body }: ServiceRequest): ClientRequest {
  const text = body === undefined ? null : Buffer.from(JSON.stringify(body));
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method,
    // A separate socket, because a restarted server resets kept-alive ones.
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

async function readText(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MAX_RESPONSE_LENGTH) throw new Error('the response is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
