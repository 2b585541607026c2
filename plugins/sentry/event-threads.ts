/**
 * For the report's `context` (contract 21, Sentry SDK intake): the crashed one first, stacks as
 * text up to the size limit.
 */
import type { Json } from '../../ports/store/index.js';
import { parseFrames, type StackFrame } from './stack-frames.js';
import { formatStack } from './trace-formatter.js';
import { toLine, toRecord, toRecords, type UntypedRecord } from './untyped-values.js';

type JsonObject = { [key: string]: Json };

const MAX_THREADS = 32;
const MAX_THREAD_FRAMES = 30;
const MAX_STACKS_LENGTH = 6144;
const MAX_NAME_LENGTH = 200;

/** Null without threads, or for a single one with the event's own stack. */
export function buildThreads(event: UntypedRecord, platform: string | null): Json | null {
  const given = toRecords(event['threads']);
  if (given.length === 0) return null;
  const threads = given.toSorted((a, b) => getThreadRank(a) - getThreadRank(b)).slice(0, MAX_THREADS);
  let remainingLength = MAX_STACKS_LENGTH;
  const limitedThreads = threads.map((thread) => {
    const stack = formatThreadStack(parseFrames(thread['stacktrace']).slice(0, MAX_THREAD_FRAMES), platform);
    const fits = stack !== null && stack.length <= remainingLength;
    if (fits) remainingLength -= stack.length;
    const about = toThreadFields(thread);
    if (fits) about['stack'] = stack;
    return about;
  });
  const isAlone =
    limitedThreads.length === 1 &&
    Object.keys(limitedThreads[0] ?? {}).every((name) => name === 'id' || name === 'current');
  return isAlone ? null : limitedThreads;
}

const getThreadRank = ({ crashed, current, main }: UntypedRecord): number =>
  crashed === true ? 0 : current === true ? 1 : main === true ? 2 : 3;

function toThreadFields(thread: UntypedRecord): JsonObject {
  const about: JsonObject = {};
  for (const name of ['id', 'name', 'state'] as const) {
    const value = toLine(thread[name])?.slice(0, MAX_NAME_LENGTH);
    if (value !== undefined) about[name] = value;
  }
  for (const name of ['crashed', 'current', 'main'] as const) if (thread[name] === true) about[name] = true;
  const locks = toRecord(thread['held_locks']);
  if (locks !== null && Object.keys(locks).length > 0) about['locks'] = Object.keys(locks).length;
  return about;
}

function formatThreadStack(frames: readonly StackFrame[], platform: string | null): string | null {
  if (frames.length === 0) return null;
  return formatStack([{ type: null, value: null, relation: 'cause', level: 0, frames }], platform)?.text ?? null;
}
