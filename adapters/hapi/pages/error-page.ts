/** Renders failures as pages: what happened, which field, who has access and what to do. */
import type { Request } from '@hapi/hapi';
import type { View } from '../../../ports/http/index.js';
import { buildFailureResponse } from '../wire/envelope.js';
import { Failure, getErrorText } from '../wire/failure.js';
import { validateHeaders } from '../wire/headers.js';
import { IncomingRequest } from '../wire/incoming-request.js';
import type { HttpResponse } from '../wire/http-response.js';
import {
  buildViewContext,
  buildCookieHeader,
  HTML_TYPE,
  ANONYMOUS_VISITOR,
  resolveVisitor,
  type PageServices,
  type PageVisitor,
} from './visitor.js';

/** The schema's messages name types and list indexes. */
export function toReadableFailure(failure: Failure, query: Readonly<Record<string, unknown>>): Failure {
  const names = new Set(Object.keys(failure.more.fields ?? {}).map((path) => path.split('.')[0] ?? path));
  return new Failure(failure.code, 'This link isn’t valid.', {
    ...failure.more,
    fields: Object.fromEntries([...names].map((name) => [name, formatUnknownValue(name, query[name])])),
  });
}

function formatUnknownValue(name: string, given: unknown): string {
  const value = [given].flat().find((one): one is string => typeof one === 'string' && one !== '');
  const label = name.replaceAll('_', ' ');
  return value === undefined ? `Unknown ${label}` : `Unknown ${label} “${value.slice(0, 60)}”`;
}

/** Whether to answer with JSON: only for clients that accept it and not HTML. */
export function isJsonPreferred(request: Request): boolean {
  const accept = request.raw.req.headers['accept'];
  return typeof accept === 'string' && accept.includes('application/json') && !accept.includes('text/html');
}

/** Returns a form's failure as JSON for scripts; the page with the form is for browsers. */
export function buildFormErrorResponse({ refusal, status, headers }: View, requestId: string): HttpResponse {
  const { code = 'validation_failed', message = '', fields = {} } = refusal ?? {};
  const failure = new Failure(code, message, { fields, headers: validateHeaders(headers) }, status);
  return buildFailureResponse(failure, requestId);
}

export const buildRejectedFormContext = (
  { refusal }: View,
  { path, body }: Pick<IncomingRequest, 'path' | 'body'>,
): { at: string; fields: Record<string, string>; typed: unknown } | null =>
  refusal && { at: path, fields: refusal.fields, typed: body };

const INVALID_LINK_CODES: ReadonlySet<string> = new Set(['invalid_request', 'invalid_cursor']);

export async function renderErrorPage(
  shared: PageServices,
  request: Request,
  call: IncomingRequest,
  visitor: PageVisitor,
  failure: Failure,
  who = 'admin',
): Promise<HttpResponse> {
  if (isJsonPreferred(request)) return buildFailureResponse(failure, call.id);
  const { status, code, message } = failure;
  const heading = shared.codes.getMeaning(code);
  const forRoles = code === 'role_not_allowed' || code === 'insufficient_scope';
  const error = {
    status,
    code,
    heading,
    message,
    fields: failure.more.fields ?? null,
    who: forRoles
      ? who === 'admin'
        ? 'Admins only. Ask an admin for access.'
        : `Requires the role ${who}. Ask an admin for access.`
      : null,
    detail: null,
    reset: INVALID_LINK_CODES.has(code) && Object.keys(call.query).length > 0 ? call.path : null,
  };
  const headers = { ...failure.more.headers, 'content-type': HTML_TYPE };
  try {
    const context = await buildViewContext(shared, call, visitor, { title: heading });
    const body = await shared.views.renderError({ ...context, ...error }, visitor.session ? 'app' : 'blank');
    return { status, headers: { ...headers, ...buildCookieHeader(shared, visitor, []) }, body };
  } catch (thrown) {
    shared.log.error({ request_id: call.id, err: thrown }, `the error page failed: ${getErrorText(thrown)}`);
    return {
      status,
      headers: { ...headers, 'content-type': 'text/plain; charset=utf-8' },
      body: `${heading}. ${message}\n`,
    };
  }
}

export async function renderNotFoundPage(
  shared: PageServices,
  request: Request,
  id: string,
  failure: Failure,
): Promise<HttpResponse> {
  const call = new IncomingRequest(id, request, shared.addressOf, shared.secure);
  let visitor = ANONYMOUS_VISITOR;
  try {
    visitor = await resolveVisitor(shared, request);
  } catch (thrown) {
    shared.log.error({ request_id: id, err: thrown }, `the session could not be read: ${getErrorText(thrown)}`);
  }
  return renderErrorPage(shared, request, call, visitor, failure);
}
