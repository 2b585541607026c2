/**
 * Threads of an event for the report's `context` (contract 21, Sentry SDK intake): the crashed one
 * first, with stacks as text up to the size limit.
 */
import type { Json } from '../../ports/store.js';
import { framesOf, type StackFrame } from './frames.js';
import { stackOf } from './stack.js';
import { line, record, records, type Loose } from './values.js';

type JsonObject = { [key: string]: Json };

const MOST_THREADS = 32;
const MOST_FRAMES = 30;
const MOST_TEXT = 6144;
const LONGEST_NAME = 200;

/** Returns null without threads, and for a single thread with the event's own stack. */
export function threadsOf(event: Loose, platform: string | null): Json | null {
  const given = records(event['threads']);
  if (given.length === 0) return null;
  const threads = given.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MOST_THREADS);
  let room = MOST_TEXT;
  const kept = threads.map((thread) => {
    const stack = stackText(framesOf(thread['stacktrace']).slice(0, MOST_FRAMES), platform);
    const fits = stack !== null && stack.length <= room;
    if (fits) room -= stack.length;
    const about = aboutThread(thread);
    if (fits) about['stack'] = stack;
    return about;
  });
  const isAlone = kept.length === 1 && Object.keys(kept[0] ?? {}).every((name) => name === 'id' || name === 'current');
  return isAlone ? null : kept;
}

const rankOf = ({ crashed, current, main }: Loose): number =>
  crashed === true ? 0 : current === true ? 1 : main === true ? 2 : 3;

function aboutThread(thread: Loose): JsonObject {
  const about: JsonObject = {};
  for (const name of ['id', 'name', 'state'] as const) {
    const value = line(thread[name])?.slice(0, LONGEST_NAME);
    if (value !== undefined) about[name] = value;
  }
  for (const name of ['crashed', 'current', 'main'] as const) if (thread[name] === true) about[name] = true;
  const locks = record(thread['held_locks']);
  if (locks !== null && Object.keys(locks).length > 0) about['locks'] = Object.keys(locks).length;
  return about;
}

function stackText(frames: readonly StackFrame[], platform: string | null): string | null {
  if (frames.length === 0) return null;
  return stackOf([{ type: null, value: null, relation: 'cause', level: 0, frames }], platform)?.text ?? null;
}
