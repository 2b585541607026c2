/**
 * Sends one request with `fetch`. Rejects only when the caller aborts. No cookies are sent or
 * stored and no redirects followed. From other origins the service accepts only error reports
 * (contract 21, intake).
 */
import {
  createExchange,
  createFailedExchange,
  getAbortReason,
  getErrorText,
  type Exchange,
  type ServiceRequest,
  type Transport,
} from '../transport.js';

export const sendRequest: Transport = async (question) => {
  const { url, signal, timeoutMs } = question;
  signal?.throwIfAborted();
  const ending = new AbortController();
  const onAbort = (): void => ending.abort();
  signal?.addEventListener('abort', onAbort, { once: true });
  const timer = setTimeout(onAbort, timeoutMs);
  try {
    return await fetchExchange(question, ending.signal);
  } catch (error) {
    if (signal?.aborted === true) throw getAbortReason(signal);
    if (ending.signal.aborted) return createFailedExchange(`no response within ${timeoutMs} ms`);
    return createFailedExchange(
      isOtherOrigin(url) ? `${getErrorText(error)}; ${FOREIGN_ORIGIN_FAULT}` : getErrorText(error),
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
};

const FOREIGN_ORIGIN_FAULT = 'a page of another origin can only report errors';

const isOtherOrigin = (url: URL): boolean =>
  (globalThis as unknown as { location?: { origin: string } }).location?.origin !== url.origin;

const isAtExit = (url: URL): boolean => url.pathname.endsWith('/validate/release');

async function fetchExchange(
  { method, url, token = null, body }: ServiceRequest,
  signal: AbortSignal,
): Promise<Exchange> {
  const response = await fetch(url, {
    method,
    signal,
    redirect: 'manual',
    // A release of a seat is sent while the page ends. Browsers limit such bodies to 64 KiB.
    keepalive: isAtExit(url),
    credentials: 'omit',
    headers: {
      accept: 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (response.type === 'opaqueredirect') return createFailedExchange('a redirect, which is not followed');
  return createExchange(response.status, response.headers.get('retry-after'), await response.text());
}
