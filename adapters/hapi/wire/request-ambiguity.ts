/**
 * Rejects requests that a proxy and this service may interpret differently, to prevent request
 * smuggling (RFC 9112 3.2, 3.3 and 6.1).
 */
import type { IncomingMessage } from 'node:http';
import { Failure } from './failure.js';

const createRejection = (message: string): Failure => new Failure('invalid_request', message);

const VERSION_UNSUPPORTED = createRejection('The request is neither HTTP/1.1 nor HTTP/1.0.');
const HOST_MISSING = createRejection('The request has no Host header.');
const HOST_REPEATED = createRejection('The request has more than one Host header.');
const HOST_INVALID = createRejection('The Host header does not contain a host.');
const HOST_MISMATCH = createRejection('The host of the request URL differs from the Host header.');
const CODING_UNSUPPORTED = createRejection('Transfer-Encoding must be chunked and requires HTTP/1.1.');

/**
 * A name or address with an optional port (RFC 3986, 3.2.2); empty for a target without an
 * authority.
 */
const HOST_PATTERN = /^(?:\[[\w:.%]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

let lastHost = '';

export function checkAmbiguity(req: IncomingMessage): Failure | null {
  const { headers, httpVersion, rawHeaders, url = '' } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return VERSION_UNSUPPORTED;
  const { host, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return CODING_UNSUPPORTED;
  if (host === undefined) return httpVersion === '1.1' ? HOST_MISSING : null;
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (isHost(rawHeaders[i] as string)) hosts++;
  if (hosts > 1) return HOST_REPEATED;
  if (host !== lastHost) {
    if (!HOST_PATTERN.test(host)) return HOST_INVALID;
    lastHost = host;
  }
  return url.startsWith('/') || url === '*' || isSameHost(url, host) ? null : HOST_MISMATCH;
}

const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === 'host';

/** Whether an absolute-form target names this host. */
function isSameHost(target: string, host: string): boolean {
  if (!URL.canParse(target)) return true;
  const { protocol, host: named } = new URL(target);
  return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === named;
}
