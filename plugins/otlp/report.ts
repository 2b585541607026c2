import type { ErrorLevel } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport } from '../../ports/domain/errors.js';
import type { Json } from '../../ports/store.js';
import { firstText, textOf } from './attributes.js';
import type { LogRecord } from './log-record.js';

/** OpenTelemetry severities: ERROR is 17 to 20, FATAL 21 to 24. */
const ERROR = 17;
const FATAL = 21;

const NAMED: Readonly<Record<string, ErrorLevel>> = {
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
const MAX_LINE = 2_147_483_647;

/**
 * Attributes that identify a user, most reliable first; only a keyed hash is stored (contract 21,
 * people affected).
 */
const USER = ['user.id', 'enduser.id', 'user.email', 'user.name', 'enduser.pseudo.id'] as const;

export interface ReadRecord {
  report: ErrorReport;
  details: () => ErrorDetails;
}

export function reportOf(record: LogRecord, project: string): ReadRecord | null {
  const { attributes, resource, body } = record;
  const exceptionClass = firstText(attributes, 'exception.type');
  const message = firstText(attributes, 'exception.message');
  if (exceptionClass === null && message === null) return null;
  const said = textOf(body);
  const report: ErrorReport = {
    project,
    error_level: levelOf(record),
    error_message: message ?? said ?? '',
    exception_class: exceptionClass,
    file: firstText(attributes, 'code.filepath', 'code.file.path'),
    function: firstText(attributes, 'code.function', 'code.function.name'),
    line: lineOf(attributes['code.lineno'] ?? attributes['code.line.number']),
    stack_trace: firstText(attributes, 'exception.stacktrace'),
    environment: firstText(resource, 'deployment.environment', 'deployment.environment.name'),
    app_version: firstText(resource, 'service.version'),
    host: firstText(resource, 'host.name'),
    user: { id: firstText(attributes, ...USER) },
    occurred_at: instant(record.time),
    client_ref: refOf(record),
  };
  return { report, details: () => ({ context: contextOf(record, said, message), breadcrumbs: null }) };
}

function levelOf({ severity, severityText }: LogRecord): ErrorLevel {
  if (severity > 0) return severity >= FATAL ? 'fatal' : severity >= ERROR ? 'error' : 'warning';
  const name = severityText?.trim().toLowerCase() ?? '';
  return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? 'warning') : 'warning';
}

function lineOf(value: Json | undefined): number | null {
  const line = Number(textOf(value) ?? NaN);
  return Number.isInteger(line) && line > 0 && line <= MAX_LINE ? line : null;
}

/** Returns null for times beyond the range of a date. */
function instant(nanoseconds: string | null): string | null {
  if (nanoseconds === null) return null;
  const at = new Date(Number(BigInt(nanoseconds) / 1_000_000n));
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
}

/**
 * Returns a reference, so that a repeated record counts once. A span may log several exceptions at
 * different times.
 */
function refOf({ attributes, traceId, spanId, time }: LogRecord): string | null {
  const uid = firstText(attributes, 'log.record.uid');
  if (uid !== null) return uid;
  return traceId === null || spanId === null || time === null ? null : `${traceId}-${spanId}-${time}`;
}

const SAID = new Set(['exception.type', 'exception.message', 'exception.stacktrace', 'log.record.uid', ...USER]);

function contextOf(
  { attributes, resource, scope, body, traceId, spanId, severityText }: LogRecord,
  said: string | null,
  message: string | null,
): ErrorDetails['context'] {
  const context: { [key: string]: Json } = {};
  const put = (name: string, value: Json): void => {
    if (value !== null) context[name] = value;
  };
  if (message !== null && said !== message) put('message', body);
  put('logger', scope);
  put('severity', severityText);
  put('trace_id', traceId);
  put('span_id', spanId);
  const rest = Object.entries(attributes).filter(([key]) => !SAID.has(key));
  if (rest.length > 0) put('attributes', Object.fromEntries(rest));
  if (Object.keys(resource).length > 0) put('resource', { ...resource });
  return context;
}
