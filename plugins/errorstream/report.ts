import { invalid } from '../../kernel/errors.js';
import { getJsonSize } from '../../lib/json/json-size.js';
import { correctSenderTime } from '../../lib/clocks/sender-clock.js';
import { getUrgency } from '../../lib/urgency.js';
import type { Details, Report } from '../../ports/domain/bugs.js';
import type { ErrorDetails, ErrorReport, ErrorSender } from '../../ports/domain/errors.js';
import type { Json } from '../../ports/store.js';
import type { LateFrames } from '../../ports/domain/frames.js';
import type { ErrorBody } from './body.js';
import { cutHead, cutNewest, cutObject, cutStack } from './limits/cut.js';
import { formatCrashReport } from './apple-crash.js';
import { cutText } from '../../lib/text/cut-text.js';
import { titleOf } from '../../lib/text/error-title.js';
import { versionName } from '../../lib/versions.js';
import { toReadableClass } from '../../lib/text/generated-names.js';
import { findInnerError, isWrapper, listMemberTypes } from '../../lib/text/wrapped-errors.js';

export const LIMITS = {
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

/** Returns null when it is too large: the frames then stay unchanged. */
function boundLate(late: LateFrames): LateFrames | null {
  const bounded = { ...late, stack: late.stack.slice(0, MAX_LATE_FRAMES) };
  return getJsonSize(bounded as unknown as Json, MAX_LATE_SIZE) <= MAX_LATE_SIZE ? bounded : null;
}

class Cutter {
  readonly cut: string[] = [];

  /** Blank text counts as missing. */
  text(name: string, value: string | null | undefined, limit: number, by = cutText): string | null {
    if (value === null || value === undefined || value === '' || value.trim() === '') return null;
    return this.#noted(name, value, by(value, limit));
  }

  list(name: string, given: readonly string[] | null | undefined, count: number, limit: number): string[] {
    if (!given || given.length === 0) return [];
    const whole = given.filter((element) => element !== '');
    const kept = whole.slice(0, count).map((element) => cutText(element, limit));
    if (whole.length > count || kept.some((element, i) => element !== whole[i])) this.cut.push(name);
    return kept;
  }

  object(name: string, value: { [key: string]: Json } | null | undefined, limit: number): Json {
    return value ? this.#noted(name, value, cutObject(value, limit)) : null;
  }

  newest(name: string, value: Json[] | null | undefined, count: number, limit: number): Json {
    return value ? this.#noted(name, value, cutNewest(value, count, limit)) : null;
  }

  #noted<T>(name: string, before: T, after: T): T {
    if (after !== before) this.cut.push(name);
    return after;
  }
}

function aliased(body: ErrorBody, ...names: readonly (keyof ErrorBody)[]): [name: string, value: string | null] {
  for (const name of names) {
    const value = body[name];
    if (typeof value === 'string' && value.trim() !== '') return [name, value];
  }
  return [names[0] as string, null];
}

const NO_DETAILS: Details = { context: null, breadcrumbs: null };
const noDetails = (): Details => NO_DETAILS;

type Stated = Pick<ErrorReport, 'message_template' | 'members' | 'function' | 'build_number' | 'late'>;

/**
 * Truncates a body's details immediately, because the response names truncated fields; others on
 * demand.
 */
function detailsOf(
  { context, breadcrumbs }: ErrorBody,
  details: (() => ErrorDetails) | undefined,
  cutter: Cutter,
): () => Details {
  if (details !== undefined) return () => cutDetails(details(), new Cutter());
  if (!context && !breadcrumbs) return noDetails;
  const cut = cutDetails({ context, breadcrumbs }, cutter);
  return () => cut;
}

const cutDetails = ({ context, breadcrumbs }: Pick<ErrorBody, 'context' | 'breadcrumbs'>, cutter: Cutter): Details => ({
  context: cutter.object('context', context, LIMITS.context),
  breadcrumbs: cutter.newest('breadcrumbs', breadcrumbs, LIMITS.breadcrumbs, LIMITS.breadcrumbs_text),
});

type Carried = Pick<Report, 'members'> & { type: string | null; text: string };

function carriedBy({ exception_class, error_message, stack_trace, members = null }: ErrorBody & Stated): Carried {
  const type = exception_class?.trim() || null;
  const plain = { type: exception_class ?? null, text: error_message, members };
  if (!stack_trace || type === null || members !== null) return plain;
  const inner = findInnerError(stack_trace, type, error_message);
  if (inner !== null) return { type: inner.type, text: inner.message, members };
  const types = listMemberTypes(stack_trace);
  if (types.length === 0 || !isWrapper(type, error_message)) return plain;
  return { ...plain, members: types.map((one) => ({ exception_class: one, file: null, function: null })) };
}

export interface ReadReport {
  report: Report;
  details: () => Details;
  /** Truncated fields, as the caller named them. */
  truncated: string[];
}

/**
 * @param received milliseconds
 * @param details replaces the body's own details
 * @throws ServiceError validation_failed when message and class are both empty
 */
export function toErrorReport(
  body: ErrorBody & Stated,
  sender: ErrorSender,
  received: number,
  details?: () => ErrorDetails,
): ReadReport {
  const cutter = new Cutter();
  const { type, text, members } = carriedBy(body);
  const trace = body.stack_trace ? formatCrashReport(body.stack_trace) : null;
  const message = cutter.text('error_message', text, LIMITS.error_message);
  const exceptionClass = cutter.text('exception_class', type && toReadableClass(type), LIMITS.exception_class);
  if (message === null && exceptionClass === null) {
    throw invalid({ error_message: 'must not be empty where there is no exception_class' });
  }
  const environment = cutter.text('environment', body.environment, LIMITS.short);
  const [file, path] = aliased(body, 'file', 'file_path');
  const [version, versionText] = aliased(body, 'app_version', 'build', 'release');
  const fingerprint = cutter.list('fingerprint', body.fingerprint, LIMITS.fingerprint, LIMITS.fingerprint_element);
  const report: Report = {
    type: 'error',
    project: body.project,
    title: titleOf(exceptionClass, message ?? ''),
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
    file_path: cutter.text(file, path, LIMITS.path, cutHead),
    function_name: body.function ?? null,
    line_no: body.line ?? body.line_no ?? null,
    late: body.late ? boundLate(body.late) : null,
    stack_trace: cutter.text('stack_trace', trace, LIMITS.stack_trace, cutStack),
    environment,
    app_version: cutter.text(version, versionText === null ? null : versionName(versionText), LIMITS.short),
    build_number: body.build_number ?? null,
    commit_sha: cutter.text('commit_sha', body.commit_sha, LIMITS.short),
    repo_url: cutter.text('repo_url', body.repo_url, LIMITS.path),
    host: cutter.text('host', body.host, LIMITS.short),
    user: cutter.text('user', body.user?.id?.toString(), LIMITS.short),
    occurred_at: correctSenderTime(body.occurred_at ?? null, body.sent_at ?? null, received),
    client_ref: body.client_ref ?? null,
    tags: cutter.list('tags', body.tags, LIMITS.tags, LIMITS.tag),
    fingerprint: fingerprint.length > 0 ? fingerprint : null,
  };
  return { report, details: detailsOf(body, details, cutter), truncated: cutter.cut };
}
