/**
 * Cookies in and out. hapi's own parser is off: it refuses the whole request for one odd cookie of another application.
 * The package `cookie` was tried: it takes `__proto__` for a name and leaves quotation marks around values.
 */
import type { Cookie } from '../../../ports/http.js';

/** Cookies of a `Cookie` header; the first of a name wins, names that could poison an object are left out. */
export function parseCookies(header: string | undefined): Record<string, string> {
  const cookies: Record<string, string> = {};
  if (!header) return cookies;
  for (const part of header.split(';', 100)) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const name = part.slice(0, at).trim();
    if (name === '__proto__' || Object.hasOwn(cookies, name)) continue;
    const raw = part.slice(at + 1).trim();
    cookies[name] = decode(raw.startsWith('"') && raw.endsWith('"') && raw.length > 1 ? raw.slice(1, -1) : raw);
  }
  return cookies;
}

function decode(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    // Another application's cookie in another encoding: its bytes are as good as any.
    return value;
  }
}

/** One cookie's value without parsing the rest. */
export function cookieOf(header: string | undefined, name: string): string | undefined {
  return header?.includes(name) ? parseCookies(header)[name] : undefined;
}

/** `Set-Cookie`: always HttpOnly and SameSite=Lax, Secure when the service is reached by https (contract 10). */
export function setCookie(cookie: Cookie, secure: boolean): string {
  const { name, value, maxAgeSeconds, path } = cookie;
  if (!/^[\w.-]+$/.test(name)) throw new TypeError(`cookie name ${JSON.stringify(name)} is not a token`);
  const age =
    value === null ? '; Max-Age=0' : maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.floor(maxAgeSeconds)}`;
  const place = (path ?? '/').replace(/[;\r\n]/g, '');
  return `${name}=${encodeURIComponent(value ?? '')}; Path=${place}${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
