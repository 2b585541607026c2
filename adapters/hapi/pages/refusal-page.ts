/** A refusal as a page: what happened, to which field, who may, what to do. Clients that want JSON get the envelope. */
import type { Request } from '@hapi/hapi';
import { failureResponse } from '../wire/envelope.js';
import { Failure, textOf } from '../wire/failure.js';
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

const HEADINGS: Record<number, string> = {
  400: 'The request is wrong',
  401: 'Sign in first',
  403: 'Not for this account',
  404: 'Not found',
  405: 'Not possible here',
  409: 'This does not go together',
  413: 'Too large',
  415: 'Wrong kind of content',
  422: 'Some fields are wrong',
  429: 'Too many requests',
  500: 'The service failed',
  503: 'Not available at the moment',
};

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
  const heading = code === 'csrf_failed' ? 'The form has expired' : (HEADINGS[status] ?? 'The request failed');
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
