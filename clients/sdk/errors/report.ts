/** Builds an error report (contract 21, intake) from a thrown value. Never throws. */
import { createRandomId } from '../runtime.js';

/** Fields of contract 21 but `project`. */
export interface ErrorReportFields {
  error_level?: 'fatal' | 'error' | 'warning';
  error_message: string;
  exception_class?: string;
  file?: string;
  line?: number;
  stack_trace?: string;
  environment?: string;
  app_version?: string;
  commit_sha?: string;
  repo_url?: string;
  host?: string;
  /** The server stores only a keyed hash, used to count distinct users. */
  user?: { id: string | number };
  /** RFC 3339. Default: now. */
  occurred_at?: string;
  /** A repeated value is not counted again. */
  client_ref?: string;
  tags?: readonly string[] | Readonly<Record<string, string>>;
  context?: Readonly<Record<string, unknown>>;
  breadcrumbs?: readonly unknown[];
  /** Overrides the grouping. */
  fingerprint?: readonly string[];
}

export interface PreparedReport {
  clientRef: string;
  text: string;
}

/** Maximum lengths; the server would truncate more. */
const MAX_FIELD_LENGTHS = { error_message: 8_192, stack_trace: 65_536, exception_class: 200 } as const;
const MAX_REPORT_LENGTH = 256 * 1024;
const MAX_CAUSES = 5;
/** Members of an `AggregateError`, including nested ones. */
const MAX_MEMBERS = 10;

export function prepareReport(project: string, report: ErrorReportFields, now: number): PreparedReport {
  const clientRef = report.client_ref ?? createRandomId();
  const whole = {
    error_level: 'error',
    occurred_at: new Date(now).toISOString(),
    ...report,
    project,
    client_ref: clientRef,
    error_message: truncate(report.error_message, MAX_FIELD_LENGTHS.error_message) ?? '',
    exception_class: truncate(report.exception_class, MAX_FIELD_LENGTHS.exception_class),
    stack_trace: truncate(report.stack_trace, MAX_FIELD_LENGTHS.stack_trace),
  };
  const text = stringify(whole);
  if (text !== null && text.length <= MAX_REPORT_LENGTH) return { clientRef, text };
  const { context: _context, breadcrumbs: _breadcrumbs, tags: _tags, fingerprint: _fingerprint, ...small } = whole;
  return { clientRef, text: stringify(small) ?? JSON.stringify({ project, client_ref: clientRef }) };
}

/** The server validates values that are not text. */
const truncate = (text: string | undefined, most: number): string | undefined =>
  typeof text === 'string' ? text.slice(0, most) : text;

/** @returns null for values that JSON cannot encode: cycles and big integers in a context */
function stringify(value: object): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * Derives fields from any thrown value.
 * @param shown formats a value that is not an error
 */
export function toReportFields(
  thrown: unknown,
  shown: (value: unknown) => string,
): Pick<ErrorReportFields, 'error_message' | 'exception_class' | 'stack_trace' | 'file' | 'line'> {
  try {
    if (!(thrown instanceof Error)) {
      const error_message = typeof thrown === 'string' && thrown !== '' ? thrown : shown(thrown);
      return { error_message, exception_class: 'NonError' };
    }
    const exception_class = getErrorClass(thrown);
    const error_message = thrown.message === '' ? exception_class : thrown.message;
    const stack_trace = formatStack(thrown);
    return { error_message, exception_class, stack_trace, ...findTopFrame(stack_trace) };
  } catch {
    return { error_message: 'an error that cannot be read', exception_class: 'NonError' };
  }
}

const getErrorClass = (error: Error): string =>
  error.name === 'Error' && error.constructor.name !== '' ? error.constructor.name : error.name;

/** Formats the error, its causes and the members of a group, each once. */
function formatStack(error: Error): string {
  const stacks: string[] = [];
  const visited = new Set<unknown>();
  let members = 0;
  const appendStack = (head: string, it: unknown, depth: number): void => {
    if (!(it instanceof Error) || visited.has(it) || depth > MAX_CAUSES) return;
    visited.add(it);
    stacks.push(head === '' ? (it.stack ?? formatOwnStack(it)) : head + formatOwnStack(it));
    appendStack('Caused by: ', it.cause, depth + 1);
    const list: unknown[] = it instanceof AggregateError && Array.isArray(it.errors) ? it.errors : [];
    for (const [i, member] of list.entries())
      if (members++ < MAX_MEMBERS) appendStack(`Member ${i + 1} of ${list.length}: `, toError(member), depth + 1);
  };
  appendStack('', error, 0);
  return stacks.join('\n');
}

/** Stacks of Firefox and Safari do not begin with the message. */
function formatOwnStack({ name, message, stack = '' }: Error): string {
  const head = message === '' ? name : `${name}: ${message}`;
  if (stack === '') return head;
  return parseFrame(stack.split('\n', 1)[0] ?? '', '@') === null ? stack : `${head}\n${stack}`;
}

/** Members may be any rejected value. */
const toError = (member: unknown): Error =>
  member instanceof Error ? member : Object.assign(new Error(String(member)), { name: 'NonError', stack: '' });

const MAX_SCANNED_LINES = 200;
const MAX_LINE_LENGTH = 2_000;

/**
 * Returns the first frame with a file, as the service parses the trace (contract 21, first frame).
 */
function findTopFrame(stack: string): { file?: string; line?: number } {
  const lines = stack.split('\n', MAX_SCANNED_LINES);
  const mark = lines.some((line) => line.startsWith('    at ')) ? 'at ' : '@';
  for (const line of lines) {
    const frame = parseFrame(line, mark);
    if (frame !== null) return frame;
  }
  return {};
}

/** `at f (file:1:2)`, `at file:1:2`, `at async file:1:2`; in Firefox and Safari `f@file:1:2`. */
function parseFrame(text: string, mark: 'at ' | '@'): { file: string; line: number } | null {
  const trimmed = text.length > MAX_LINE_LENGTH ? '' : text.trim();
  const at = trimmed.indexOf(mark);
  if (at < 0 || (mark === 'at ' && at > 0)) return null;
  const rest = trimmed.slice(at + mark.length).replace(/^async /, '');
  const place = mark === 'at ' && rest.endsWith(')') ? rest.slice(rest.lastIndexOf(' (') + 2, -1) : rest;
  const tail = /:(\d{1,9}):\d{1,9}$/.exec(place);
  const file = place.slice(0, tail?.index ?? 0).replace(/^file:\/\//, '');
  return tail === null || file === '' || file.includes('<anonymous>') ? null : { file, line: Number(tail[1]) };
}
