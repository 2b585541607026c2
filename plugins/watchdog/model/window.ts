/**
 * Maintenance windows and silences (contract 30, amendments): once, from one time to another, or again and again, by a
 * cron expression with a length. Pure; times in ms since 1970 unless they are text.
 */
import { isoOf } from '../../../lib/time.js';
import type { Doc } from '../../../ports/store.js';
import { getNextDue } from './cron.js';

/** `maintenance` is planned work, which everyone sees; `silence` holds alarms back and changes nothing else. */
export type WindowKind = 'maintenance' | 'silence';

export interface WindowDoc extends Doc {
  /** Absent: maintenance. */
  kind?: WindowKind;
  /** The monitors it is for; a subtree may be given in addition. */
  sources: string[];
  /** A monitor that it is for, with everything below it as it is at each run of the evaluator. */
  subtree: string | null;
  /** `series` of the monitors that it names. Absent in older documents: any monitor of the name. */
  series?: string[];
  /** Only monitors of this project; null: of all. */
  project: string | null;
  reason: string | null;
  /** Of one that is held once. */
  from: string | null;
  until: string | null;
  /** Of one that is held again and again. */
  schedule: string | null;
  timezone: string;
  duration_seconds: number | null;
  created_by: string;
  created_at: string;
}

export const getWindowKind = ({ kind = 'maintenance' }: WindowDoc): WindowKind => kind;

export interface Span {
  from: number;
  until: number;
}

/** Starts of one repeating window that may overlap before the first of them ends. */
const MAX_OVERLAPPING_STARTS = 1_000;

/** When it is open, as far as `now` lies within; null: it is not open. A repeating one that overlaps itself goes on. */
export function findOpenSpan(window: WindowDoc, now: number): Span | null {
  const { from, until, schedule, timezone, duration_seconds } = window;
  if (schedule === null || duration_seconds === null) {
    const span = { from: Date.parse(from ?? ''), until: Date.parse(until ?? '') };
    return span.from <= now && now < span.until ? span : null;
  }
  const length = duration_seconds * 1000;
  const first = getNextDue(schedule, timezone, now - length);
  if (first === null || first > now) return null;
  let last = first;
  for (let n = 0; n < MAX_OVERLAPPING_STARTS; n++) {
    const at = getNextDue(schedule, timezone, last);
    if (at === null || at > now) break;
    last = at;
  }
  return { from: first, until: last + length };
}

/** When it opens next; null: never again. */
export function findNextSpan(window: WindowDoc, now: number): Span | null {
  const { from, until, schedule, timezone, duration_seconds } = window;
  if (schedule === null || duration_seconds === null) {
    const span = { from: Date.parse(from ?? ''), until: Date.parse(until ?? '') };
    return now < span.from ? span : null;
  }
  const at = getNextDue(schedule, timezone, now);
  return at === null ? null : { from: at, until: at + duration_seconds * 1000 };
}

export interface WindowView extends Omit<WindowDoc, 'kind' | 'project' | 'series'> {
  open: boolean;
  /** When it ends, while it is open. */
  open_until: string | null;
  next_from: string | null;
  next_until: string | null;
}

export function toWindowView(
  { kind: _kind, project: _project, series: _series, ...window }: WindowDoc,
  now: number,
): WindowView {
  const whole: WindowDoc = { ...window, id: window.id, project: null };
  const [open, next] = [findOpenSpan(whole, now), findNextSpan(whole, now)];
  return {
    ...window,
    id: window.id,
    open: open !== null,
    open_until: open && isoOf(open.until),
    next_from: next && isoOf(next.from),
    next_until: next && isoOf(next.until),
  };
}
