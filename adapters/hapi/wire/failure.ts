/**
 * A plain object instead of an Error, because failures are common on hot paths and a stack trace
 * would cost more than the rest of the request.
 */
import { isBoom } from '@hapi/boom';
import { redactText } from '../../../lib/text/hidden-texts.js';
import { CODES, ServiceError, type ErrorCode } from '../../../kernel/errors.js';

export class Failure {
  /** @param status of a plugin's own code */
  constructor(
    readonly code: string,
    readonly message: string,
    readonly more: {
      fields?: Record<string, string>;
      extra?: Record<string, unknown>;
      headers?: Readonly<Record<string, string>>;
    } = {},
    readonly status: number = CODES[code as ErrorCode][0],
  ) {}
}

export const createTooLargeFailure = (limit: number): Failure =>
  new Failure('payload_too_large', `The body is larger than ${limit} bytes.`);

export const NOT_FOUND = new Failure('not_found', 'Path not found.');
export const STOPPING = new Failure('not_ready', 'The service is stopping.', {
  headers: { 'retry-after': '5', connection: 'close' },
});
export const PLUGIN_NOT_READY = new Failure('not_ready', 'This part of the service is not running.', {
  headers: { 'retry-after': '10' },
});
export const OVERLOADED = new Failure('overloaded', 'Too many concurrent requests.', {
  headers: { 'retry-after': '1' },
});

export const STORAGE_FULL = new Failure('insufficient_storage', 'No disk space for new data. Saved data is safe.', {
  headers: { 'retry-after': '60' },
});
export const STORE_UNREACHABLE = new Failure('not_ready', 'The database is unreachable. Nothing was changed.', {
  headers: { 'retry-after': '5' },
});
const DISK_UNWRITABLE = new Failure('not_ready', 'The disk is not writable. The server log names the path.', {
  headers: { 'retry-after': '30' },
});

/** Several copies of a module may be loaded. */
const hasErrorName = (thrown: unknown, name: string): thrown is Error =>
  thrown instanceof Error && thrown.name === name;

const BOOM_FAILURES: Record<number, [ErrorCode, string]> = {
  400: ['invalid_request', 'The request is malformed.'],
  // 404 does not reveal that the path exists.
  403: ['not_found', 'Path not found.'],
  404: ['not_found', 'Path not found.'],
  408: ['invalid_request', 'The request did not arrive in time.'],
  413: ['payload_too_large', 'The body is larger than the limit.'],
  415: ['unsupported_media_type', 'Unsupported content type.'],
  416: ['invalid_request', 'The range is outside the file.'],
  503: ['overloaded', 'Too many concurrent requests.'],
};

/** Null for an internal error, which is logged. */
export function toFailure(thrown: unknown): Failure | null {
  if (thrown instanceof Failure) return thrown;
  if (thrown instanceof ServiceError) {
    const { code, message, status, fields, extra, headers } = thrown;
    const more = {
      ...(fields && { fields }),
      ...(extra && { extra }),
      ...(headers && { headers: lowerCaseNames(headers) }),
    };
    return new Failure(code, message, more, status);
  }
  if (hasErrorName(thrown, 'InvalidCursor'))
    return new Failure('invalid_cursor', 'This list position expired. Start from the first page.');
  if (hasErrorName(thrown, 'StoreConflict'))
    return new Failure('conflict', 'The name is taken, or the data changed. Reload and try again.');
  if (hasErrorName(thrown, 'StoreFull') || hasErrorName(thrown, 'DiskFull')) return STORAGE_FULL;
  if (hasErrorName(thrown, 'StoreUnavailable')) return STORE_UNREACHABLE;
  if (hasErrorName(thrown, 'DiskUnwritable')) return DISK_UNWRITABLE;
  const known = isBoom(thrown) ? BOOM_FAILURES[thrown.output.statusCode] : undefined;
  return known ? new Failure(known[0], known[1]) : null;
}

export const toServiceError = ({ code, message, more, status }: Failure): ServiceError =>
  new ServiceError(code, message, { ...more, headers: { ...more.headers }, status });

/** Adds `Retry-After` to every 503 (contract 00, error codes). */
export function addRetryAfter(failure: Failure): Failure {
  const { headers = {} } = failure.more;
  if (failure.status !== 503 || headers['retry-after']) return failure;
  return new Failure(failure.code, failure.message, { ...failure.more, headers: { ...headers, 'retry-after': '5' } });
}

const lowerCaseNames = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

/** With the exception's text only when `debug` is on (contract 00, error codes). */
export const createInternalFailure = (thrown: unknown, debug: boolean): Failure =>
  new Failure(
    'internal_error',
    debug
      ? `The service failed: ${getErrorText(thrown)}`
      : 'Something went wrong. The server log has details under the request ID.',
  );

export const getErrorText = (thrown: unknown): string =>
  redactText(
    thrown instanceof Error
      ? `${thrown.name}: ${thrown.message}`
      : `thrown: ${typeof thrown === 'string' ? thrown : typeof thrown}`,
  );
