import type { Authenticator, Redirect } from '../../../ports/http.js';
import type { HttpResponse } from './http-response.js';
import { setCookie } from './cookies.js';
import { flashCookie } from './flash.js';

export function redirectResponse(
  redirect: Redirect,
  by: { authenticator: Authenticator; secure: boolean; servesPage: (location: string) => boolean },
): HttpResponse {
  const location = redirect.named && !by.servesPage(redirect.location) ? '/' : redirect.location;
  const cookies = redirect.flash
    ? [...redirect.cookies, flashCookie(by.authenticator, redirect.flash)]
    : redirect.cookies;
  return {
    status: 303,
    headers: {
      location: locationOf(location),
      ...(cookies.length > 0 && { 'set-cookie': cookies.map((cookie) => setCookie(cookie, by.secure)) }),
    },
    body: null,
  };
}

const locationOf = (location: string): string =>
  location.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));

/** Returns `/login?next=…`, which leads back to a path of this service, never to another host. */
export function loginLocation(path: string, search: string): string {
  const next = path.startsWith('/') && !/^\/[/\\]/.test(path) ? path + search : '/';
  return next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`;
}

/** Returns the query of a URL with its question mark, cut to the length that a login preserves. */
export function searchOf(url = ''): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at, at + 1_000);
}
