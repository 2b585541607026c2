/**
 * Requests that a proxy in front and this service may read differently: where a body ends, or which host is meant. They
 * are refused, so that nobody smuggles a request behind another's (RFC 9112 3.2, 3.3 and 6.1).
 *
 * Node's parser refuses by itself (seen with Node 20, `clientError`): `Content-Length` twice or as a list, with a sign,
 * empty or in letters; `Content-Length` beside `Transfer-Encoding`; codings that do not end in one `chunked`, and an
 * unknown one alone; folded lines; a bare LF or CR; a space before the colon; a name that is no token; NUL; chunks with
 * a bare LF or without CRLF; a `Content-Length` in a trailer.
 */
import type { IncomingMessage } from 'node:http';
import { Failure } from './failure.js';

const bad = (message: string): Failure => new Failure('invalid_request', message);

const VERSION = bad('The request is neither HTTP/1.1 nor HTTP/1.0.');
const NO_HOST = bad('The request has no Host header.');
const TWO_HOSTS = bad('The request has more than one Host header.');
const WRONG_HOST = bad('The Host header holds no host.');
const OTHER_HOST = bad('The request names another host than its Host header.');
const CODING = bad('Transfer-Encoding may only be chunked, in HTTP/1.1 alone.');

/** A name or an address, with a port or without (RFC 3986, 3.2.2); empty where a target has no authority. */
const HOST = /^(?:\[[\w:.%]+\]|[\w.~!$&'()*+;=%-]*)(?::\d*)?$/;

/** Of one client, or one proxy, it is the same over and over. */
let lastHost = '';

/** Why the request is refused; null: everybody reads it alike. */
export function ambiguous(req: IncomingMessage): Failure | null {
  const { headers, httpVersion, rawHeaders, url = '' } = req;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return VERSION;
  const { host, 'transfer-encoding': coding } = headers;
  if (coding !== undefined && (httpVersion === '1.0' || coding.toLowerCase() !== 'chunked')) return CODING;
  if (host === undefined) return httpVersion === '1.1' ? NO_HOST : null;
  // Of several Node keeps the first.
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (isHost(rawHeaders[i] as string)) hosts++;
  if (hosts > 1) return TWO_HOSTS;
  if (host !== lastHost) {
    if (!HOST.test(host)) return WRONG_HOST;
    lastHost = host;
  }
  return url.startsWith('/') || url === '*' || sameHost(url, host) ? null : OTHER_HOST;
}

const isHost = (name: string): boolean => name.length === 4 && name.toLowerCase() === 'host';

/** Whether a target in absolute form is of this host; one that is none has no host, and is judged by its route. */
function sameHost(target: string, host: string): boolean {
  if (!URL.canParse(target)) return true;
  const { protocol, host: named } = new URL(target);
  return URL.canParse(`${protocol}//${host}`) && new URL(`${protocol}//${host}`).host === named;
}
