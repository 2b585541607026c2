/**
 * The rest of an event, as the report's `context`. The most useful members come first, because the end is cut when the
 * context is too large (contract 21, intake). Pure.
 */
import type { Json } from '../../ports/store.js';
import type { StackFrame } from './frames.js';
import { line, list, record, shallow, text, type Loose } from './values.js';

type JsonObject = { [key: string]: Json };

/** Lines of source on each side of the crash. SDKs send five or seven. */
const MOST_SOURCE_LINES = 20;

/** @param crash the frame that the error comes from. @param message a log message beside an exception */
export function contextOf(event: Loose, crash: StackFrame | null, message: string | null): JsonObject | null {
  const context: JsonObject = {};
  const put = (name: string, value: Json | null): void => {
    if (value !== null) context[name] = value;
  };
  for (const name of ['transaction', 'logger', 'platform', 'dist', 'release'] as const) put(name, line(event[name]));
  put('message', message);
  put('sdk', sdkOf(event['sdk']));
  put('source', crash === null ? null : sourceOf(crash));
  for (const name of ['user', 'request'] as const) put(name, filled(event[name]));
  put('locals', crash === null ? null : filled(crash.given['vars']));
  for (const name of ['contexts', 'extra'] as const) put(name, filled(event[name]));
  return Object.keys(context).length === 0 ? null : context;
}

/** The object; null when it is empty. */
function filled(value: unknown): Json | null {
  const object = record(value);
  return object === null || Object.keys(object).length === 0 ? null : shallow(object);
}

function sdkOf(value: unknown): string | null {
  const sdk = record(value);
  const parts = [line(sdk?.['name']), line(sdk?.['version'])].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(' ');
}

/** `{"41": "  return price.total;"}`: the crash frame's lines of source under their numbers. */
function sourceOf({ line: at, code, given }: StackFrame): Json | null {
  if (code === null) return null;
  const before = list(given['pre_context']).slice(-MOST_SOURCE_LINES);
  const after = list(given['post_context']).slice(0, MOST_SOURCE_LINES);
  const lines = [...before, code, ...after];
  const first = (at ?? before.length + 1) - before.length;
  return Object.fromEntries(lines.map((content, i) => [String(first + i), text(content) ?? '']));
}
