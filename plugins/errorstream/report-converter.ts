import { invalid } from '../../kernel/errors.js';
import { getJsonSize } from '../../lib/json/json-size.js';
import { correctSenderTime } from '../../lib/sender-clock.js';
import { getUrgency } from '../../lib/urgency.js';
import type { ReportDetails, Report } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport, ErrorSender } from '../../ports/domain/errors.js';
import type { Json } from '../../ports/store/index.js';
import type { UnmappedFrames } from '../../ports/domain/frame-rewriting.js';
import type { ErrorBody } from './report-body.js';
import { truncateHead, truncateNewest, truncateObject, truncateStackTrace } from './truncate.js';
import { formatCrashReport } from './apple-crash.js';
import { cutText } from '../../lib/text/cut-text.js';
import { toErrorTitle } from '../../lib/text/error-title.js';
import { getVersionName } from '../../lib/versions.js';
import { toReadableClass } from '../../lib/text/generated-names.js';
import { findInnerError, isWrapperError, listMemberTypes } from '../../lib/text/wrapped-errors.js';

export const REPORT_LIMITS = {
  error_message: 8192,
  exception_class: 200,
  stack_trace: 65_536,
  path: 1024,
  short: 200,
  tags: 32,
  tag: 200,
  context: 32_768,
  breadcrumbs: 50,
  breadcrumbs_text: 65_536,
  fingerprint: 32,
  fingerprint_element: 1024,
} as const;

const MAX_LATE_FRAMES = 20;
const MAX_LATE_SIZE = 16_384;

/** Returns null when too large: the frames stay unchanged. */
function boundLate(late: UnmappedFrames): UnmappedFrames | null {
  const bounded = { ...late, stack: late.stack.slice(0, MAX_LATE_FRAMES) };
  return getJsonSize(bounded as unknown as Json, MAX_LATE_SIZE) <= MAX_LATE_SIZE ? bounded : null;
}

class FieldTruncator {
  readonly cut: string[] = [];

  /** Blank text counts as missing. */
  cutText(name: string, value: string | null | undefined, limit: number, by = cutText): string | null {
    if (value === null || value === undefined || value === '' || value.trim() === '') return null;
    return this.#recordCut(name, value, by(value, limit));
  }

  cutList(name: string, given: readonly string[] | null | undefined, count: number, limit: number): string[] {
    if (!given || given.length === 0) return [];
    const whole = given.filter((element) => element !== '');
    const cutElements = whole.slice(0, count).map((element) => cutText(element, limit));
    if (whole.length > count || cutElements.some((element, i) => element !== whole[i])) this.cut.push(name);
    return cutElements;
  }

  truncateObject(name: string, value: { [key: string]: Json } | null | undefined, limit: number): Json {
    return value ? this.#recordCut(name, value, truncateObject(value, limit)) : null;
  }

  truncateNewest(name: string, value: Json[] | null | undefined, count: number, limit: number): Json {
    return value ? this.#recordCut(name, value, truncateNewest(value, count, limit)) : null;
  }

  #recordCut<T>(name: string, before: T, after: T): T {
    if (after !== before) this.cut.push(name);
    return after;
  }
}

function findFirstField(body: ErrorBody, ...names: readonly (keyof ErrorBody)[]): [name: string, value: string | null] {
  for (const name of names) {
    const value = body[name];
    if (typeof value === 'string' && value.trim() !== '') return [name, value];
  }
  return [names[0] as string, null];
}

const NO_DETAILS: ReportDetails = { context: null, breadcrumbs: null };
const getNoDetails = (): ReportDetails => NO_DETAILS;

type PluginFields = Pick<ErrorReport, 'message_template' | 'members' | 'function' | 'build_number' | 'late'>;

/** A body's details immediately, because the response names truncated fields; others on demand. */
function buildDetails(
  { context, breadcrumbs }: ErrorBody,
  details: (() => ErrorDetails) | undefined,
  cutter: FieldTruncator,
): () => ReportDetails {
  if (details !== undefined) return () => cutDetails(details(), new FieldTruncator());
  if (!context && !breadcrumbs) return getNoDetails;
  const cut = cutDetails({ context, breadcrumbs }, cutter);
  return () => cut;
}

const cutDetails = (
  { context, breadcrumbs }: Pick<ErrorBody, 'context' | 'breadcrumbs'>,
  cutter: FieldTruncator,
): ReportDetails => ({
  context: cutter.truncateObject('context', context, REPORT_LIMITS.context),
  breadcrumbs: cutter.truncateNewest(
    'breadcrumbs',
    breadcrumbs,
    REPORT_LIMITS.breadcrumbs,
    REPORT_LIMITS.breadcrumbs_text,
  ),
});

type ActualError = Pick<Report, 'members'> & { type: string | null; text: string };

function findActualError({
  exception_class,
  error_message,
  stack_trace,
  members = null,
}: ErrorBody & PluginFields): ActualError {
  const type = exception_class?.trim() || null;
  const plain = { type: exception_class ?? null, text: error_message, members };
  if (!stack_trace || type === null || members !== null) return plain;
  const inner = findInnerError(stack_trace, type, error_message);
  if (inner !== null) return { type: inner.type, text: inner.message, members };
  const types = listMemberTypes(stack_trace);
  if (types.length === 0 || !isWrapperError(type, error_message)) return plain;
  return { ...plain, members: types.map((one) => ({ exception_class: one, file: null, function: null })) };
}

export interface ConvertedReport {
  report: Report;
  details: () => ReportDetails;
  /** As the caller named them. */
  truncated: string[];
}

/**
 * @param received milliseconds
 * @param details replaces the body's
 * @throws ServiceError validation_failed when message and class are both empty
 */
export function toErrorReport(
  body: ErrorBody & PluginFields,
  sender: ErrorSender,
  received: number,
  details?: () => ErrorDetails,
): ConvertedReport {
  const cutter = new FieldTruncator();
  const { type, text, members } = findActualError(body);
  const trace = body.stack_trace ? formatCrashReport(body.stack_trace) : null;
  const message = cutter.cutText('error_message', text, REPORT_LIMITS.error_message);
  const exceptionClass = cutter.cutText(
    'exception_class',
    type && toReadableClass(type),
    REPORT_LIMITS.exception_class,
  );
  if (message === null && exceptionClass === null) {
    throw invalid({ error_message: 'must not be empty without an exception_class' });
  }
  const environment = cutter.cutText('environment', body.environment, REPORT_LIMITS.short);
  const [file, path] = findFirstField(body, 'file', 'file_path');
  const [version, versionText] = findFirstField(body, 'app_version', 'build', 'release');
  const fingerprint = cutter.cutList(
    'fingerprint',
    body.fingerprint,
    REPORT_LIMITS.fingerprint,
    REPORT_LIMITS.fingerprint_element,
  );
  const report: Report = {
    type: 'error',
    project: body.project,
    title: toErrorTitle(exceptionClass, message ?? ''),
    severity: getUrgency(body.error_level, environment),
    source: sender.source,
    reported_by: sender.id,
    reporter: sender.name,
    intake_key: sender.intake === true ? sender.id : null,
    address: sender.address,
    error_level: body.error_level,
    error_message: message,
    message_template: body.message_template ?? null,
    members: members ?? null,
    exception_class: exceptionClass,
    file_path: cutter.cutText(file, path, REPORT_LIMITS.path, truncateHead),
    function_name: body.function ?? null,
    line_no: body.line ?? body.line_no ?? null,
    late: body.late ? boundLate(body.late) : null,
    stack_trace: cutter.cutText('stack_trace', trace, REPORT_LIMITS.stack_trace, truncateStackTrace),
    environment,
    app_version: cutter.cutText(
      version,
      versionText === null ? null : getVersionName(versionText),
      REPORT_LIMITS.short,
    ),
    build_number: body.build_number ?? null,
    commit_sha: cutter.cutText('commit_sha', body.commit_sha, REPORT_LIMITS.short),
    repo_url: cutter.cutText('repo_url', body.repo_url, REPORT_LIMITS.path),
    host: cutter.cutText('host', body.host, REPORT_LIMITS.short),
    user: cutter.cutText('user', body.user?.id?.toString(), REPORT_LIMITS.short),
    occurred_at: correctSenderTime(body.occurred_at ?? null, body.sent_at ?? null, received),
    client_ref: body.client_ref ?? null,
    tags: cutter.cutList('tags', body.tags, REPORT_LIMITS.tags, REPORT_LIMITS.tag),
    fingerprint: fingerprint.length > 0 ? fingerprint : null,
  };
  return { report, details: buildDetails(body, details, cutter), truncated: cutter.cut };
}
