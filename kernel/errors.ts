/**
 * Errors that reach a caller, each with its stable code (contract 00, error codes). `CODES` are those that several
 * parts of the service share; a plugin declares its own in its manifest. docs/errors.md is made from both, and pages
 * take their words for people from here and from nowhere else. Any other thrown value is a fault of the service: 500
 * `internal_error`, logged, its text hidden unless `app.debug`.
 */
import type { ErrorCodes } from '../ports/http.js';

export const CODES = {
  invalid_request: [
    400,
    'A query parameter is unknown, malformed or out of range; `fields` names it.',
    'The request is wrong',
  ],
  invalid_json: [400, 'The body is not JSON, or not a JSON object.', 'What was sent cannot be read'],
  invalid_cursor: [
    400,
    'The cursor was not made by this list with this sort. Start again without it.',
    'This part of the list is gone',
  ],
  unauthorized: [401, 'The credential is missing, unknown, expired or revoked.', 'Sign in first'],
  invalid_credentials: [
    401,
    'The user name or the password is wrong, or the account is disabled.',
    'The user name or the password is wrong',
  ],
  insufficient_scope: [403, 'The token lacks the scope, or belongs to another project.', 'Not for this account'],
  role_not_allowed: [403, 'The account’s role may not do this here.', 'Not for this account'],
  csrf_failed: [403, 'The form’s `csrf_token` is missing or stale. Load the page again.', 'The form has expired'],
  not_found: [404, 'There is nothing under this path or id.', 'Not found'],
  method_not_allowed: [405, 'The path exists, the method does not; `Allow` lists those that do.', 'Not possible here'],
  invalid_transition: [409, 'The item’s status does not allow this change.', 'Its status does not allow this'],
  conflict: [409, 'Something with this name exists, or the state changed meanwhile.', 'This does not go together'],
  precondition_failed: [412, '`If-Match` names another revision than the current one.', 'It has changed meanwhile'],
  payload_too_large: [413, 'The body is larger than the limit.', 'Too large'],
  unsupported_media_type: [
    415,
    'The content type or encoding is not one that this path takes.',
    'Wrong kind of content',
  ],
  validation_failed: [
    422,
    'The body has wrong fields; `fields` names each and what is wrong.',
    'Some fields are wrong',
  ],
  reason_required: [422, 'This change needs a `reason`.', 'A reason is needed'],
  unknown_project: [422, 'There is no project with this slug, or it is archived.', 'There is no such project'],
  rate_limited: [429, 'Too many calls; `Retry-After` says when to come back.', 'Too many requests'],
  internal_error: [500, 'A fault of the service; the log has it under the request id.', 'The service failed'],
  totp_not_supported: [
    501,
    'The account is protected by TOTP, which this path cannot ask for.',
    'A second factor is needed',
  ],
  overloaded: [503, 'Too much at once; `Retry-After` says when to come back.', 'Too much at once'],
  not_ready: [
    503,
    'The part of the service behind this path is starting, stopping or failed, or the store is away.',
    'Not available at the moment',
  ],
  insufficient_storage: [
    507,
    'The disk is full, or less is free than `health.min_free_bytes`; reads go on.',
    'The disk is full',
  ],
} as const satisfies Catalogue;

/** Codes with the status that each answers, what it means in one sentence, and what a page calls it for a person. */
export type Catalogue = ErrorCodes;

export type ErrorCode = keyof typeof CODES;

export interface ErrorOptions {
  /** Path in the input → what is wrong and how to fix it. */
  fields?: Record<string, string>;
  /** Further members of `error`, for example `claim`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** Identifies errors across copies of this module: a plugin may bring its own copy. */
const BRAND = Symbol.for('aos.ServiceError');

/** An error with a stable code. `message` is one clear sentence that may be shown to the caller. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly [BRAND] = true;
  readonly code: string;
  readonly status: number;
  readonly fields: Record<string, string> | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
  /** With a code of a plugin, as its manifest declares it in `errors`. */
  constructor(code: string, message: string, options: ErrorOptions & { status: number });
  constructor(code: string, message: string, options: ErrorOptions & { status?: number } = {}) {
    super(message, { cause: options.cause });
    this.code = code;
    this.status = options.status ?? CODES[code as ErrorCode][0];
    this.fields = options.fields;
    this.extra = options.extra;
    this.headers = options.headers;
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** An error with a code of the plugin's own: its manifest declares the code with this status, in `errors`. */
export const refuse = (status: number, code: string, message: string, options: ErrorOptions = {}): ServiceError =>
  new ServiceError(code, message, { ...options, status });

/** `refuse` for the codes of one catalogue, which know their status; a code that it does not have does not compile. */
export const refusals =
  <const C extends Catalogue>(catalogue: C) =>
  (code: keyof C & string, message: string, options: ErrorOptions = {}): ServiceError =>
    new ServiceError(code, message, { ...options, status: (catalogue[code] as Catalogue[string])[0] });

/** 404: `what` is a noun with its id, for example `item shop-17`. */
export const notFound = (what: string): ServiceError => new ServiceError('not_found', `There is no ${what}.`);
/**
 * An object that the caller may know of, else 404 as if it were not there: a token that is bound to a project is told
 * nothing of another's (contract 10, tokens). One that the caller names a foreign project for is `denied` instead.
 * @param own the only project that the caller may touch; null: all
 * @param what as `notFound`
 */
export function owned<T extends object>(
  own: string | null,
  object: T | null | undefined,
  projectOf: (object: T) => string | null,
  what: string,
): T {
  const found = ownedOrNull(own, object, projectOf);
  if (found === null) throw notFound(what);
  return found;
}
/** As `owned`, null for what the caller may not know of. */
export const ownedOrNull = <T extends object>(
  own: string | null,
  object: T | null | undefined,
  projectOf: (object: T) => string | null,
): T | null => (object && (own === null || projectOf(object) === own) ? object : null);

/**
 * 403 when a caller that is bound to one project names another one (contract 10, tokens).
 * @param own the only project that the caller may touch; null: all
 */
export function requireProject(own: string | null, project: string | null): void {
  if (own !== null && own !== project) throw denied(`The token is for the project ${own} only.`);
}
/** 422: the input names a project that does not exist. @param field where it is named */
export const unknownProject = (slug: string, field = 'project'): ServiceError =>
  new ServiceError('unknown_project', `There is no project ${slug.slice(0, 64)}.`, {
    fields: { [field]: 'is not the slug of a project' },
  });

export const conflict = (message: string, options?: ErrorOptions): ServiceError =>
  new ServiceError('conflict', message, options);
/** 403: the token's scopes or project do not allow it. */
export const denied = (message: string): ServiceError => new ServiceError('insufficient_scope', message);
/** 422 with the fields. */
export const invalid = (fields: Record<string, string>, message = 'Some fields are wrong.'): ServiceError =>
  new ServiceError('validation_failed', message, { fields });
/** 400 for query parameters. */
export const invalidQuery = (fields: Record<string, string>, message = 'Some parameters are wrong.'): ServiceError =>
  new ServiceError('invalid_request', message, { fields });
/** 429 with `Retry-After`. */
export const rateLimited = (retryAfterSeconds: number, message = 'Too many calls.'): ServiceError =>
  new ServiceError('rate_limited', message, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });
