import type { Authenticator, Redirect } from '../../../ports/http/index.js';
import type { HttpResponse } from './http-response.js';
import { formatSetCookie } from './cookies.js';
import { createFlashCookie } from './flash.js';

export function buildRedirectResponse(
  redirect: Redirect,
  by: { authenticator: Authenticator; secure: boolean; servesPage: (location: string) => boolean },
): HttpResponse {
  const location = redirect.isUntrusted && !by.servesPage(redirect.location) ? '/' : redirect.location;
  const cookies = redirect.flash
    ? [...redirect.cookies, createFlashCookie(by.authenticator, redirect.flash)]
    : redirect.cookies;
  return {
    status: 303,
    headers: {
      location: encodeLocation(location),
      ...(cookies.length > 0 && { 'set-cookie': cookies.map((cookie) => formatSetCookie(cookie, by.secure)) }),
    },
    body: null,
  };
}

const encodeLocation = (location: string): string =>
  location.replace(/[^\x21-\x7e]/gu, (character) => encodeURIComponent(character));

/** Returns `/login?next=…`, which leads back to a path of this service, never to another host. */
export function buildLoginLocation(path: string, search: string): string {
  const next = path.startsWith('/') && !/^\/[/\\]/.test(path) ? path + search : '/';
  return next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`;
}

export function getSearch(url = ''): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at, at + 1_000);
}
