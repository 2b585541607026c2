/** Why a monitor is down, in one sentence (contract 30, alarms). Pure; times in ms. */
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from './documents.js';
import { DEFAULT_GRACE_SECONDS, intervalOf, runLimitOf, runSince } from './timing.js';

/** What stands around it in the hierarchy. */
export interface Around {
  parent: { name: string; state: MonitorState } | null;
  /** Others below the same parent, and how many of them went down within the same minute. */
  siblings: number;
  together: number;
  /** What a probe saw in place of a heartbeat. */
  probed: boolean;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;
const MAX_MESSAGE = 200;

/** The two largest units: `5 min 44 s`. @param ms at least 0 */
export function span(ms: number): string {
  let left = Math.max(0, Math.round(ms / 1000));
  const parts: string[] = [];
  for (const [name, seconds] of UNITS) {
    const n = Math.floor(left / seconds);
    left -= n * seconds;
    if (n > 0) parts.push(`${n} ${name}`);
    // `1 d 5 s` would say less than it seems to.
    if (parts.length > 0 && (n === 0 || parts.length === 2)) break;
  }
  return parts.join(' ') || '0 s';
}

/** Null: it is not down. */
export function whyDown(doc: MonitorDoc, around: Around, now: number): string | null {
  if (doc.state !== 'down') return null;
  return `${[reasonOf(doc, around, now), ...placeOf(around)].join('; ')}.`;
}

/** Whether its heartbeat said so itself; else it fell silent. */
const reported = ({ last_heartbeat_at, down_since_utc }: MonitorDoc): boolean =>
  last_heartbeat_at !== null && down_since_utc !== null && last_heartbeat_at >= down_since_utc;

/** Reason of an alarm that a heartbeat reported, without its message. */
export function reportReason({ exit_code, probed }: { exit_code?: number | null; probed?: boolean }): string {
  if (typeof exit_code === 'number') return `Exit code ${exit_code}`;
  return probed === true ? 'The probe failed' : 'A failure was reported';
}

/** Reason of an alarm that no heartbeat reports now: heartbeats are missing, or the report is older than the alarm. */
export function silenceReason(doc: MonitorDoc, now: number): string {
  if (reported(doc)) return reportReason({ exit_code: doc.exit_code ?? null });
  return reasonOf(doc, { ...ALONE, probed: doc.probed === true }, now);
}

const ALONE: Around = { parent: null, siblings: 0, together: 0, probed: false };

function reasonOf(doc: MonitorDoc, { probed }: Around, now: number): string {
  const { last_heartbeat_at, schedule, timezone, period_seconds, message } = doc;
  if (reported(doc)) {
    const text = message?.trim().replace(/[.\s]+$/, '') ?? '';
    const said = text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text;
    if (probed) return said === '' ? 'The last probe failed' : `The last probe failed: ${said}`;
    return said === '' ? 'It reported an error' : `It reported an error: ${said}`;
  }
  const begun = runSince(doc);
  if (begun !== null && now > begun + runLimitOf(doc))
    return `A run began ${span(now - begun)} ago and has not ended within ${span(runLimitOf(doc))}`;
  if (last_heartbeat_at === null) return 'It has never sent a heartbeat';
  const last = Date.parse(last_heartbeat_at);
  const grace = span((doc.grace_seconds ?? DEFAULT_GRACE_SECONDS) * 1000);
  const silence = `No ${probed ? 'probe' : 'heartbeat'} for ${span(now - last)}`;
  if (period_seconds) return `${silence}; expected every ${span(period_seconds * 1000)} with a grace of ${grace}`;
  if (!schedule) return `${silence}; expected every ${span(intervalOf(doc) * 1000)}`;
  return `${silence}; expected by ${schedule} (${timezone ?? 'UTC'}) with a grace of ${grace}`;
}

const IS: Readonly<Record<MonitorState, string>> = {
  up: 'is up',
  warning: 'is in warning',
  down: 'is down too',
  unknown: 'has never reported',
  stopped: 'is stopped',
  maintenance: 'is in maintenance',
};

function placeOf({ parent, siblings, together }: Around): string[] {
  if (parent === null) return [];
  const others = siblings === 1 ? 'its only sibling' : `${together} of ${siblings} siblings`;
  const near =
    siblings === 0
      ? null
      : together === 0
        ? 'no sibling went down with it'
        : `${others} went down within the same minute`;
  return [`its parent ${parent.name} ${IS[parent.state]}`, ...(near === null ? [] : [near])];
}
