/**
 * Errors with stable codes (contract 00, error codes); docs/errors.md is generated from them. Any
 * other thrown value is a bug: 500 `internal_error`, logged, its text hidden unless `app.debug`.
 */
import type { ErrorCodes } from '../ports/http/index.js';

export const CODES = {
  invalid_request: [
    400,
    'A query parameter is unknown, malformed or out of range; `fields` names it.',
    'Invalid request',
  ],
  invalid_json: [400, 'The body is not JSON, or not a JSON object.', 'Invalid request body'],
  invalid_cursor: [
    400,
    'The cursor does not belong to this list and sort order. Start again without it.',
    'This page of the list expired',
  ],
  unauthorized: [401, 'The credential is missing, unknown, expired or revoked.', 'Sign in'],
  invalid_credentials: [
    401,
    'The user name or the password is wrong, or the account is disabled.',
    'Incorrect username or password',
  ],
  insufficient_scope: [403, 'The token lacks the scope, or belongs to another project.', 'Permission denied'],
  role_not_allowed: [403, 'The account’s role may not do this here.', 'Permission denied'],
  password_disabled: [
    403,
    'Password sign-in is off for this account here (`auth.local`). Use another sign-in method.',
    'Password sign-in is off',
  ],
  second_factor_required: [
    403,
    'The account must set up a second factor before anything else (`auth.second_factor`).',
    'Second factor required',
  ],
  csrf_failed: [403, 'The form’s `csrf_token` is missing or stale. Load the page again.', 'Form expired'],
  not_found: [404, 'The path or ID does not exist.', 'Not found'],
  method_not_allowed: [
    405,
    'The path does not support this method; `Allow` lists the supported ones.',
    'Method not allowed',
  ],
  invalid_transition: [409, 'The item’s status does not allow this change.', 'Status change not allowed'],
  conflict: [409, 'The name already exists, or the state changed meanwhile.', 'Conflict'],
  precondition_failed: [412, '`If-Match` does not match the current revision.', 'Changed by someone else'],
  payload_too_large: [413, 'The body is larger than the limit.', 'Too large'],
  unsupported_media_type: [415, 'This path does not support the content type or encoding.', 'Unsupported content type'],
  validation_failed: [
    422,
    'The body has invalid fields; `fields` lists each with its problem.',
    'Fix the highlighted fields',
  ],
  reason_required: [422, 'This change requires a `reason`.', 'Reason required'],
  unknown_project: [422, 'The project does not exist or is archived.', 'Project not found'],
  rate_limited: [429, 'Too many requests; `Retry-After` says when to retry.', 'Too many requests'],
  internal_error: [500, 'An internal error; the log has details under the request ID.', 'Server error'],
  totp_not_supported: [
    501,
    'The account is protected by TOTP, which this path does not support.',
    'Two-factor code required',
  ],
  overloaded: [503, 'Too many concurrent requests; `Retry-After` says when to retry.', 'Server is busy'],
  not_ready: [
    503,
    'The part of the service behind this path is starting, stopping or failed, or the store is unreachable.',
    'Temporarily unavailable',
  ],
  insufficient_storage: [
    507,
    'The disk is full, or less than `health.min_free_bytes` is free; reads still work.',
    'Disk full',
  ],
} as const satisfies ErrorCatalog;

/** Error codes with status, meaning and the title for pages. */
export type ErrorCatalog = ErrorCodes;

export type ErrorCode = keyof typeof CODES;

export interface ErrorOptions {
  /** Path in the input → what is wrong and how to fix it. */
  fields?: Record<string, string>;
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
}

/** A plugin may bring its own copy of this module. */
const ERROR_BRAND = Symbol.for('aos.ServiceError');

/** An error with a stable code. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly [ERROR_BRAND] = true;
  readonly code: string;
  readonly status: number;
  readonly fields: Record<string, string> | undefined;
  readonly extra: Record<string, unknown> | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
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
    return typeof value === 'object' && value !== null && ERROR_BRAND in value;
  }
}

/** Creates an error with a plugin's own code. */
export const refuse = (status: number, code: string, message: string, options: ErrorOptions = {}): ServiceError =>
  new ServiceError(code, message, { ...options, status });

/** Returns `refuse` for one catalog's codes; others do not compile. */
export const refusals =
  <const C extends ErrorCatalog>(catalogue: C) =>
  (code: keyof C & string, message: string, options: ErrorOptions = {}): ServiceError =>
    new ServiceError(code, message, { ...options, status: (catalogue[code] as ErrorCatalog[string])[0] });

/** Creates a 404. */
export function notFound(what: string): ServiceError {
  const name = what.replace(/^such /, '').replace(/ with (?:this|one of these) ids?$/, '');
  return new ServiceError('not_found', `${name.charAt(0).toUpperCase()}${name.slice(1)} not found.`);
}
/**
 * Returns an object that the caller may access, else throws 404 as if it did not exist, so that a
 * project token learns nothing about other projects (contract 10, tokens).
 * @param own the only project that the caller may access; null: all
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
/** Like `owned`, but returns null. */
export const ownedOrNull = <T extends object>(
  own: string | null,
  object: T | null | undefined,
  projectOf: (object: T) => string | null,
): T | null => (object && (own === null || projectOf(object) === own) ? object : null);

/**
 * Throws 403 when a caller bound to one project names another (contract 10, tokens).
 * @param own null: all projects
 */
export function requireProject(own: string | null, project: string | null): void {
  if (own !== null && own !== project) throw denied(`The token is limited to project ${own}.`);
}
/** Creates a 422 for a project that does not exist. */
export const unknownProject = (slug: string, field = 'project'): ServiceError =>
  new ServiceError('unknown_project', `Project ${slug.slice(0, 64)} not found.`, {
    fields: { [field]: 'is not the slug of a project' },
  });

export const conflict = (message: string, options?: ErrorOptions): ServiceError =>
  new ServiceError('conflict', message, options);
/** Creates a 403: the token's scopes or project do not allow the request. */
export const denied = (message: string): ServiceError => new ServiceError('insufficient_scope', message);
const INVALID_FIELDS_MESSAGE = 'Some fields are invalid.';
const FORM_FIELDS_MESSAGE = 'Fix the highlighted fields.';

/** Returns the message of an error for the page that shows its form again. */
export const getFormMessage = ({ message }: ServiceError): string =>
  message === INVALID_FIELDS_MESSAGE ? FORM_FIELDS_MESSAGE : message;

/** Creates a 422 with the invalid fields. */
export const invalid = (fields: Record<string, string>, message = INVALID_FIELDS_MESSAGE): ServiceError =>
  new ServiceError('validation_failed', message, { fields });
/** Creates a 400 for query parameters. */
export const invalidQuery = (fields: Record<string, string>, message = 'Some parameters are invalid.'): ServiceError =>
  new ServiceError('invalid_request', message, { fields });
/** Creates a 429 with `Retry-After`. */
export const rateLimited = (retryAfterSeconds: number, message = 'Too many requests.'): ServiceError =>
  new ServiceError('rate_limited', message, {
    headers: { 'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))) },
  });
