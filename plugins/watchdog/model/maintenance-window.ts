/**
 * Once, or repeated by a cron expression with a duration (contract 30, amendments). Times in ms
 * since 1970 unless they are text.
 */
import { toIsoString } from '../../../lib/time.js';
import type { Doc } from '../../../ports/store/index.js';
import { getNextDue } from './cron.js';

/** `maintenance` is planned work and public; `silence` only defers alarms. */
export type WindowKind = 'maintenance' | 'silence';

export interface WindowDoc extends Doc {
  /** Absent means maintenance. */
  kind?: WindowKind;
  sources: string[];
  /** With everything below it at each evaluator run. */
  subtree: string | null;
  /** Absent in older documents: any monitor of the name. */
  series?: string[];
  /** Null for all projects. */
  project: string | null;
  reason: string | null;
  from: string | null;
  until: string | null;
  schedule: string | null;
  timezone: string;
  duration_seconds: number | null;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  created_at: string;
}

export const getWindowKind = ({ kind = 'maintenance' }: WindowDoc): WindowKind => kind;

export interface WindowSpan {
  from: number;
  until: number;
}

const MAX_OVERLAPPING_STARTS = 1_000;

/** Overlapping repetitions are merged. */
export function findOpenSpan(window: WindowDoc, now: number): WindowSpan | null {
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

export function findNextSpan(window: WindowDoc, now: number): WindowSpan | null {
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
    open_until: open && toIsoString(open.until),
    next_from: next && toIsoString(next.from),
    next_until: next && toIsoString(next.until),
  };
}
