/**
 * Truncates instead of rejecting, because a truncated report is better than none (contract 21,
 * intake). Limits count code points.
 */
import { getJsonSize } from '../../lib/json/json-size.js';
import { cutText, isHighSurrogate, isLowSurrogate } from '../../lib/text/cut-text.js';
import type { Json } from '../../ports/store/index.js';

function findStartIndex(text: string, limit: number): number {
  let at = text.length;
  for (let n = 0; n < limit && at > 0; n++) {
    at -= at > 1 && isLowSurrogate(text.charCodeAt(at - 1)) && isHighSurrogate(text.charCodeAt(at - 2)) ? 2 : 1;
  }
  return at;
}

export function truncateHead(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const start = findStartIndex(text, limit);
  return start === 0 ? text : text.slice(start);
}

const PYTHON_TRACE_HEADER = 'Traceback (most recent call last):\n';

/**
 * Keeps the end with the origin: the last frame in Python, else the first (contract 21, first
 * frame).
 */
export function truncateStackTrace(text: string, limit: number): string {
  if (text.length <= limit || !text.startsWith(PYTHON_TRACE_HEADER)) return cutText(text, limit);
  const start = findStartIndex(text, limit - PYTHON_TRACE_HEADER.length);
  return findStartIndex(text, limit) === 0 ? text : PYTHON_TRACE_HEADER + text.slice(start);
}

/** In an object that is too large; leaves space for other fields. */
const MAX_TEXT_LENGTH = 4096;
const MIN_TEXT_LENGTH = 16;

function fitValue(value: Json, limit: number): Json | undefined {
  if (typeof value === 'string') {
    if (value.length <= MAX_TEXT_LENGTH && value.length + 2 <= limit) return value;
    return limit >= MIN_TEXT_LENGTH ? cutText(value, Math.min(limit - 2, MAX_TEXT_LENGTH)) : undefined;
  }
  if (value === null || typeof value !== 'object') return getJsonSize(value, limit) <= limit ? value : undefined;
  if (limit < 2) return undefined;
  let remaining = limit - 1;
  if (Array.isArray(value)) {
    const fittedElements: Json[] = [];
    for (const element of value) {
      const part = fitValue(element, remaining - 1);
      if (part === undefined) break;
      fittedElements.push(part);
      remaining -= getJsonSize(part, remaining) + 1;
    }
    return fittedElements;
  }
  const fittedEntries: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const part = fitValue(value[key] ?? null, remaining - key.length - 4);
    if (part === undefined) break;
    fittedEntries.push([key, part]);
    remaining -= getJsonSize(part, remaining) + key.length + 4;
  }
  return Object.fromEntries(fittedEntries);
}

export function truncateObject(value: { [key: string]: Json }, limit: number): { [key: string]: Json } {
  return getJsonSize(value, limit) <= limit ? value : (fitValue(value, limit) as { [key: string]: Json });
}

export function truncateNewest(list: Json[], count: number, limit: number): Json[] {
  let from = list.length;
  let size = 1;
  while (from > 0 && list.length - from < count) {
    size += getJsonSize(list[from - 1] ?? null, limit - size) + 1;
    if (size > limit) break;
    from--;
  }
  return from === 0 ? list : list.slice(from);
}
