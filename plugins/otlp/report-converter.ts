import type { ErrorLevel } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport } from '../../ports/domain/errors.js';
import type { Json } from '../../ports/store/index.js';
import { findFirstText, toText } from './attributes.js';
import type { LogRecord } from './log-record.js';

/** OpenTelemetry severities: ERROR is 17 to 20, FATAL 21 to 24. */
const ERROR_SEVERITY = 17;
const FATAL_SEVERITY = 21;

const LEVELS_BY_NAME: Readonly<Record<string, ErrorLevel>> = {
  error: 'error',
  err: 'error',
  severe: 'error',
  fatal: 'fatal',
  critical: 'fatal',
  crit: 'fatal',
  alert: 'fatal',
  emerg: 'fatal',
  panic: 'fatal',
};
const MAX_LINE_NUMBER = 2_147_483_647;

/**
 * Attributes that identify a user, most reliable first; only a keyed hash is stored (contract 21,
 * people affected).
 */
const USER_ATTRIBUTES = ['user.id', 'enduser.id', 'user.email', 'user.name', 'enduser.pseudo.id'] as const;

export interface ConvertedRecord {
  report: ErrorReport;
  details: () => ErrorDetails;
}

export function convertRecord(record: LogRecord, project: string): ConvertedRecord | null {
  const { attributes, resource, body } = record;
  const exceptionClass = findFirstText(attributes, 'exception.type');
  const message = findFirstText(attributes, 'exception.message');
  if (exceptionClass === null && message === null) return null;
  const bodyText = toText(body);
  const report: ErrorReport = {
    project,
    error_level: toErrorLevel(record),
    error_message: message ?? bodyText ?? '',
    exception_class: exceptionClass,
    file: findFirstText(attributes, 'code.filepath', 'code.file.path'),
    function: findFirstText(attributes, 'code.function', 'code.function.name'),
    line: toLineNumber(attributes['code.lineno'] ?? attributes['code.line.number']),
    stack_trace: findFirstText(attributes, 'exception.stacktrace'),
    environment: findFirstText(resource, 'deployment.environment', 'deployment.environment.name'),
    app_version: findFirstText(resource, 'service.version'),
    host: findFirstText(resource, 'host.name'),
    user: { id: findFirstText(attributes, ...USER_ATTRIBUTES) },
    occurred_at: toIsoTime(record.time),
    client_ref: buildClientRef(record),
  };
  return { report, details: () => ({ context: buildContext(record, bodyText, message), breadcrumbs: null }) };
}

function toErrorLevel({ severity, severityText }: LogRecord): ErrorLevel {
  if (severity > 0) return severity >= FATAL_SEVERITY ? 'fatal' : severity >= ERROR_SEVERITY ? 'error' : 'warning';
  const name = severityText?.trim().toLowerCase() ?? '';
  return Object.hasOwn(LEVELS_BY_NAME, name) ? (LEVELS_BY_NAME[name] ?? 'warning') : 'warning';
}

function toLineNumber(value: Json | undefined): number | null {
  const line = Number(toText(value) ?? NaN);
  return Number.isInteger(line) && line > 0 && line <= MAX_LINE_NUMBER ? line : null;
}

/** Returns null for times beyond the range of a date. */
function toIsoTime(nanoseconds: string | null): string | null {
  if (nanoseconds === null) return null;
  const at = new Date(Number(BigInt(nanoseconds) / 1_000_000n));
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/** A span may log several exceptions at different times. */
function buildClientRef({ attributes, traceId, spanId, time }: LogRecord): string | null {
  const uid = findFirstText(attributes, 'log.record.uid');
  if (uid !== null) return uid;
  return traceId === null || spanId === null || time === null ? null : `${traceId}-${spanId}-${time}`;
}

const EXCLUDED_ATTRIBUTES = new Set([
  'exception.type',
  'exception.message',
  'exception.stacktrace',
  'log.record.uid',
  ...USER_ATTRIBUTES,
]);

function buildContext(
  { attributes, resource, scope, body, traceId, spanId, severityText }: LogRecord,
  bodyText: string | null,
  message: string | null,
): ErrorDetails['context'] {
  const context: { [key: string]: Json } = {};
  const put = (name: string, value: Json): void => {
    if (value !== null) context[name] = value;
  };
  if (message !== null && bodyText !== message) put('message', body);
  put('logger', scope);
  put('severity', severityText);
  put('trace_id', traceId);
  put('span_id', spanId);
  const rest = Object.entries(attributes).filter(([key]) => !EXCLUDED_ATTRIBUTES.has(key));
  if (rest.length > 0) put('attributes', Object.fromEntries(rest));
  if (Object.keys(resource).length > 0) put('resource', { ...resource });
  return context;
}
