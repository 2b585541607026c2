/**
 * Cuts to a limit instead of refusing, because a cut report is better than none (contract 21, intake). Limits count
 * characters (code points). A value that fits is not copied. Pure.
 */
import { getJsonSize } from '../../../lib/json/json-size.js';
import { cutText, isHigh, isLow } from '../../../lib/text/cut-text.js';
import type { Json } from '../../../ports/store.js';

/** The index of the last `limit` characters; 0 when it has no more. */
function startOf(text: string, limit: number): number {
  let at = text.length;
  for (let n = 0; n < limit && at > 0; n++) {
    at -= at > 1 && isLow(text.charCodeAt(at - 1)) && isHigh(text.charCodeAt(at - 2)) ? 2 : 1;
  }
  return at;
}

/** The last `limit` characters, for paths: their end says more than their beginning. */
export function cutHead(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = startOf(text, limit);
  return start === 0 ? text : text.slice(start);
}

const PYTHON = 'Traceback (most recent call last):\n';

/**
 * Keeps the end that has the origin: the last frame in Python, the first in other languages (contract 21, first frame).
 */
export function cutStack(text: string, limit: number): string {
  if (text.length <= limit || !text.startsWith(PYTHON)) return cutText(text, limit);
  const start = startOf(text, limit - PYTHON.length);
  return startOf(text, limit) === 0 ? text : PYTHON + text.slice(start);
}

/** Characters kept of one text in an object that is too large, so that it leaves room for its neighbours. */
const MAX_LENGTH = 4096;
/** With less room than this a text is dropped, not cut. */
const MIN_LENGTH = 16;

/** As much of a value as fits, from its beginning; undefined when nothing fits. */
function fit(value: Json, limit: number): Json | undefined {
  if (typeof value === 'string') {
    if (value.length <= MAX_LENGTH && value.length + 2 <= limit) return value;
    return limit >= MIN_LENGTH ? cutText(value, Math.min(limit - 2, MAX_LENGTH)) : undefined;
  }
  if (value === null || typeof value !== 'object') return getJsonSize(value, limit) <= limit ? value : undefined;
  if (limit < 2) return undefined;
  let room = limit - 1;
  if (Array.isArray(value)) {
    const kept: Json[] = [];
    for (const element of value) {
      const part = fit(element, room - 1);
      if (part === undefined) break;
      kept.push(part);
      room -= getJsonSize(part, room) + 1;
    }
    return kept;
  }
  const kept: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const part = fit(value[key] ?? null, room - key.length - 4);
    if (part === undefined) break;
    kept.push([key, part]);
    room -= getJsonSize(part, room) + key.length + 4;
  }
  return Object.fromEntries(kept);
}

/** The object, or as many of its members as fit into `limit` characters of JSON, in their order. */
export function cutObject(value: { [key: string]: Json }, limit: number): { [key: string]: Json } {
  return getJsonSize(value, limit) <= limit ? value : (fit(value, limit) as { [key: string]: Json });
}

/** The newest elements: at most `count` from the end, and no more than fit into `limit` characters of JSON. */
export function cutNewest(list: Json[], count: number, limit: number): Json[] {
  let from = list.length;
  let size = 1;
  while (from > 0 && list.length - from < count) {
    size += getJsonSize(list[from - 1] ?? null, limit - size) + 1;
    if (size > limit) break;
    from--;
  }
  return from === 0 ? list : list.slice(from);
}
