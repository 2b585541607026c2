/** A report as the error stream takes it (contract 21, intake), made of what an application threw. Never throws. */
import { randomId } from '../random.js';

/** Contract 21's fields; `project` is the client's. */
export interface ErrorReport {
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
  /** RFC 3339. Default: now. */
  occurred_at?: string;
  /** A second report with the same one counts nothing. Default: a random one. */
  client_ref?: string;
  tags?: readonly string[] | Readonly<Record<string, string>>;
  context?: Readonly<Record<string, unknown>>;
  breadcrumbs?: readonly unknown[];
  /** Replaces the grouping. */
  fingerprint?: readonly string[];
}

export interface Prepared {
  clientRef: string;
  /** JSON. */
  text: string;
}

/** What the server would cut is not carried there. */
const LONGEST = { error_message: 8_192, stack_trace: 65_536, exception_class: 200 } as const;
const LONGEST_TEXT = 256 * 1024;
const MAX_CAUSES = 5;

export function prepare(project: string, report: ErrorReport, now: number): Prepared {
  const clientRef = report.client_ref ?? randomId();
  const whole = {
    error_level: 'error',
    occurred_at: new Date(now).toISOString(),
    ...report,
    project,
    client_ref: clientRef,
    error_message: cut(report.error_message, LONGEST.error_message) ?? '',
    exception_class: cut(report.exception_class, LONGEST.exception_class),
    stack_trace: cut(report.stack_trace, LONGEST.stack_trace),
  };
  const text = written(whole);
  if (text !== null && text.length <= LONGEST_TEXT) return { clientRef, text };
  const { context: _context, breadcrumbs: _breadcrumbs, tags: _tags, fingerprint: _fingerprint, ...small } = whole;
  return { clientRef, text: written(small) ?? JSON.stringify({ project, client_ref: clientRef }) };
}

/** What is no text is the server's to refuse. */
const cut = (text: string | undefined, most: number): string | undefined =>
  typeof text === 'string' ? text.slice(0, most) : text;

/** Null for what is no JSON: circles and big integers in a context. */
function written(value: object): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/**
 * The fields that a thrown value says itself; whatever was thrown.
 * @param shown how a value that is no error is put into words
 */
export function reportOf(
  thrown: unknown,
  shown: (value: unknown) => string,
): Pick<ErrorReport, 'error_message' | 'exception_class' | 'stack_trace'> {
  try {
    if (!(thrown instanceof Error)) {
      const error_message = typeof thrown === 'string' && thrown !== '' ? thrown : shown(thrown);
      return { error_message, exception_class: 'NonError' };
    }
    const exception_class = classOf(thrown);
    const error_message = thrown.message === '' ? exception_class : thrown.message;
    return { error_message, exception_class, stack_trace: stackOf(thrown) };
  } catch {
    return { error_message: 'an error that cannot be read', exception_class: 'NonError' };
  }
}

const classOf = (error: Error): string =>
  error.name === 'Error' && error.constructor.name !== '' ? error.constructor.name : error.name;

function stackOf(error: Error): string {
  const stacks: string[] = [];
  for (let it: unknown = error; it instanceof Error && stacks.length <= MAX_CAUSES; it = it.cause)
    stacks.push(it.stack ?? `${it.name}: ${it.message}`);
  return stacks.join('\nCaused by: ');
}
