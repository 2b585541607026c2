/** Headers of every response: the request id and security headers (contract 80). */
import type { Ids } from '../../../ports/ids.js';

const REQUEST_ID_PATTERN = /^[\w.-]{8,64}$/;

/** The caller's if well-formed, else a new one (contract 00, envelope). */
export function resolveRequestId(given: string | string[] | undefined, ids: Ids): string {
  return typeof given === 'string' && REQUEST_ID_PATTERN.test(given) ? given : ids.uuid();
}

/** No inline script or style, no other host (web/README.md). */
export const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const UNPRINTABLE_PATTERN = /[^\t\x20-\x7e\x80-\xff]/;

/** @throws TypeError for an invalid value: a line break would start another header */
export function validateHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const checked: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name] ?? '';
    if (UNPRINTABLE_PATTERN.test(value)) throw new TypeError(`the value of the header ${name} has invalid characters`);
    checked[name.toLowerCase()] = value;
  }
  return checked;
}

type HeaderMap = Record<string, string | string[]>;

/** API responses must not be rendered. */
export function buildStandardHeaders(baseUrl: string): { api: HeaderMap; page: HeaderMap; asset: HeaderMap } {
  const hsts: HeaderMap = baseUrl.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {};
  return {
    api: { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store', ...hsts },
    page: {
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
      'cache-control': 'no-store',
      ...hsts,
    },
    asset: {
      // An SVG opened directly is a document, with its styles inside.
      'content-security-policy': "default-src 'none'; style-src 'self'; sandbox",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      ...hsts,
    },
  };
}
