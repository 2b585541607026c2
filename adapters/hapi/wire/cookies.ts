/** Under https every cookie is named `__Host-<name>`, which only this exact host can set. */
import type { Cookie } from '../../../ports/http/index.js';

const HOST_PREFIX = '__Host-';

export const toCookieName = (name: string, secure: boolean): string => (secure ? HOST_PREFIX + name : name);

/** The first of a name wins; unsafe names, and under https all without `__Host-`, are dropped. */
export function parseCookies(header: string | undefined, secure: boolean): Record<string, string> {
  const cookies: Record<string, string> = {};
  if (!header) return cookies;
  for (const part of header.split(';', 100)) {
    const at = part.indexOf('=');
    if (at < 1) continue;
    const given = part.slice(0, at).trim();
    if (secure && !given.startsWith(HOST_PREFIX)) continue;
    const name = secure ? given.slice(HOST_PREFIX.length) : given;
    if (name === '' || name === '__proto__' || Object.hasOwn(cookies, name)) continue;
    const raw = part.slice(at + 1).trim();
    cookies[name] = decodeValue(raw.startsWith('"') && raw.endsWith('"') && raw.length > 1 ? raw.slice(1, -1) : raw);
  }
  return cookies;
}

function decodeValue(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

export function getCookie(header: string | undefined, name: string, secure: boolean): string | undefined {
  return header?.includes(name) ? parseCookies(header, secure)[name] : undefined;
}

/** Path=/, HttpOnly, SameSite=Lax; Secure and `__Host-` under https (contract 10). */
export function formatSetCookie(cookie: Cookie, secure: boolean): string {
  const { name, value, maxAgeSeconds } = cookie;
  if (!/^[\w.-]+$/.test(name)) throw new TypeError(`cookie name ${JSON.stringify(name)} is not a token`);
  const age =
    value === null ? '; Max-Age=0' : maxAgeSeconds === undefined ? '' : `; Max-Age=${Math.floor(maxAgeSeconds)}`;
  return `${toCookieName(name, secure)}=${encodeURIComponent(value ?? '')}; Path=/${age}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
}
