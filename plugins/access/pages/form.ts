import {
  createFormPage as plainFormPage,
  orAgain as refusedAgain,
  createPageActions as plainPageActions,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type FormRejection,
  type View,
} from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { DEVICE_COOKIE } from '../login/devices.js';
import type { BrowserInfo } from '../login/session-opener.js';
import { SESSION_COOKIE } from '../sessions/sessions.js';

export function readField(request: HttpRequest, name: string): string {
  return readFields(request, name)[0] ?? '';
}

export function readFields(request: HttpRequest, name: string): string[] {
  const { body } = request;
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return [];
  const value = (body as Record<string, unknown>)[name];
  return [value].flat().filter((one) => typeof one === 'string');
}

const CORRECTABLE_ERRORS = [401, 403, 409, 422, 429];

export const renderOnError = (
  run: () => Promise<PageResult>,
  again: (problem: FormRejection) => Promise<View> | View,
) => refusedAgain(run, again, CORRECTABLE_ERRORS);

export const buildFormPage = (
  page: Parameters<typeof plainFormPage>[0],
  run: Parameters<typeof plainFormPage>[1],
  again: Parameters<typeof plainFormPage>[2],
): PageSpec => plainFormPage(page, run, again, CORRECTABLE_ERRORS);

export const buildPageActions = (
  page: Parameters<typeof plainPageActions>[0],
  again: Parameters<typeof plainPageActions>[1],
): ReturnType<typeof plainPageActions> => plainPageActions(page, again, CORRECTABLE_ERRORS);

export const readBrowser = (request: HttpRequest): BrowserInfo => ({
  address: request.address,
  request_id: request.id,
  userAgent: request.headers['user-agent'],
  device: request.cookies[DEVICE_COOKIE],
  session: request.cookies[SESSION_COOKIE],
});

/** Prevents redirects to other hosts after the login. */
export function toLocalPath(given: string): string {
  return /^\/(?![/\\])[^\s\\\p{Cc}]{0,1000}$/u.test(given) ? given : '/';
}

export function requireSession(request: HttpRequest): Extract<HttpRequest['principal'], { kind: 'session' }> {
  if (request.principal.kind !== 'session') throw new ServiceError('unauthorized', 'Sign in first.');
  return request.principal;
}
