/** What the pages share: reading a posted form, and showing it again with what was wrong. */
import type { HttpRequest, PageResult, View } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';

/** A field's text; '' when it is missing. The first one when it comes several times. */
export function field(request: HttpRequest, name: string): string {
  return fields(request, name)[0] ?? '';
}

/** Every value of a field that may come several times (check boxes). */
export function fields(request: HttpRequest, name: string): string[] {
  const { body } = request;
  if (body === null || typeof body !== 'object' || !Object.hasOwn(body, name)) return [];
  const value = (body as Record<string, unknown>)[name];
  return [value].flat().filter((one) => typeof one === 'string');
}

export interface Problem {
  message: string;
  /** Field → text, for the controls. */
  errors: Record<string, string>;
  code: string;
}

/** Refusals that a person can mend in the form; everything else is the error page's. */
const MENDABLE = new Set([401, 403, 409, 422, 429]);

/** `run`, or the form again with the refusal's status and headers (`Retry-After`). */
export async function orAgain(
  run: () => Promise<PageResult>,
  again: (problem: Problem) => Promise<View> | View,
): Promise<PageResult> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ServiceError) || !MENDABLE.has(error.status)) throw error;
    const { message, code, fields: errors = {} } = error;
    const view = (await again({ message, errors, code })).withStatus(error.status);
    for (const [name, value] of Object.entries(error.headers ?? {})) view.header(name, value);
    return view;
  }
}

/** Where to go after the login: a path of this service, never another host. */
export function localPath(given: string): string {
  return /^\/(?![/\\])[^\s\\\p{Cc}]{0,1000}$/u.test(given) ? given : '/';
}

/** The signed-in account behind a page's request; the adapter lets nobody else through. */
export function signedIn(request: HttpRequest): Extract<HttpRequest['principal'], { kind: 'session' }> {
  if (request.principal.kind !== 'session') throw new ServiceError('unauthorized', 'Sign in first.');
  return request.principal;
}
