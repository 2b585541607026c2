/** A refusal as a page: what happened, to which field, who may, what to do. Clients that want JSON get the envelope. */
import type { Request } from '@hapi/hapi';
import type { View } from '../../../ports/http.js';
import { failureResponse } from '../wire/envelope.js';
import { Failure, textOf } from '../wire/failure.js';
import { checkedHeaders } from '../wire/headers.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import type { HttpResponse } from '../wire/http-response.js';
import {
  contextOf,
  cookieHeader,
  HTML_TYPE,
  NOBODY,
  visitorOf,
  type PageServices,
  type PageVisitor,
} from './visitor.js';

/** A refused address in words for people: the schema's own words name types, and a list's member by its number. */
export function wordsOf(failure: Failure): Failure {
  const names = new Set(
    Object.keys(failure.more.fields ?? {}).map((path) => (path.split('.')[0] ?? path).replaceAll('_', ' ')),
  );
  return new Failure(failure.code, 'The address asks for something that this page does not show.', {
    ...failure.more,
    fields: Object.fromEntries(
      [...names].map((name) => [name, 'has a value that does not exist here: choose it on the page.']),
    ),
  });
}

/**
 * Whether the answer is JSON: only for clients that ask for it and not for HTML. A script that takes anything is sent
 * to the login as browsers are.
 */
export function wantsJson(request: Request): boolean {
  const accept = request.raw.req.headers['accept'];
  return typeof accept === 'string' && accept.includes('application/json') && !accept.includes('text/html');
}

/** The refusal of a form as scripts are told it: the page that shows the form again is for people. */
export function refusedForm({ refusal, status, headers }: View, requestId: string): HttpResponse {
  const { code = 'validation_failed', message = '', fields = {} } = refusal ?? {};
  const failure = new Failure(code, message, { fields, headers: checkedHeaders(headers) }, status);
  return failureResponse(failure, requestId);
}

/** The same for the helpers `wrong` and `typed-in` of its page: which form it was, by the path that it was sent to. */
export const refusedOf = (
  { refusal }: View,
  { path, body }: Pick<IncomingRequest, 'path' | 'body'>,
): { at: string; fields: Record<string, string>; typed: unknown } | null =>
  refusal && { at: path, fields: refusal.fields, typed: body };

export async function refusalPage(
  shared: PageServices,
  request: Request,
  call: IncomingRequest,
  visitor: PageVisitor,
  failure: Failure,
  who = 'admin',
): Promise<HttpResponse> {
  if (wantsJson(request)) return failureResponse(failure, call.id);
  const { status, code, message } = failure;
  const heading = shared.codes.wordsOf(code);
  const forRoles = code === 'role_not_allowed' || code === 'insufficient_scope';
  const error = {
    status,
    code,
    heading,
    message,
    fields: failure.more.fields ?? null,
    who: forRoles ? `Accounts with the role ${who} may open this page. An administrator can change your role.` : null,
    detail: null,
  };
  const headers = { ...failure.more.headers, 'content-type': HTML_TYPE };
  try {
    const context = await contextOf(shared, call, visitor, heading);
    const body = await shared.views.error({ ...context, ...error }, visitor.session ? 'app' : 'blank');
    return { status, headers: { ...headers, ...cookieHeader(shared, visitor, []) }, body };
  } catch (thrown) {
    shared.log.error({ request_id: call.id, err: thrown }, `the error page failed: ${textOf(thrown)}`);
    return {
      status,
      headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
      body: `${heading}. ${message}\n`,
    };
  }
}

/** The page for an address without a route. */
export async function notFoundPage(
  shared: PageServices,
  request: Request,
  id: string,
  failure: Failure,
): Promise<HttpResponse> {
  const call = new IncomingRequest(id, request, shared.addressOf, shared.secure);
  let visitor = NOBODY;
  try {
    visitor = await visitorOf(shared, request);
  } catch (thrown) {
    shared.log.error({ request_id: id, err: thrown }, `the session could not be read: ${textOf(thrown)}`);
  }
  return refusalPage(shared, request, call, visitor, failure);
}
