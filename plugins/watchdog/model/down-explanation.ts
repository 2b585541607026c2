import { formatElapsed } from '../../../lib/time.js';
import type { MonitorState } from '../../../ports/domain/watchdog.js';
import type { MonitorDoc } from './documents.js';
import { DEFAULT_GRACE_SECONDS, getIntervalSeconds, getRunLimit, findRunStart } from './timing.js';

export interface DownContext {
  parent: { name: string; state: MonitorState } | null;
  siblings: number;
  together: number;
  probed: boolean;
}

const MAX_MESSAGE_CHARACTERS = 200;

export function explainDown(doc: MonitorDoc, around: DownContext, now: number): string | null {
  if (doc.state !== 'down') return null;
  return `${[formatReason(doc, around, now), ...describeContext(around)].join('; ')}.`;
}

const isReportedDown = ({ last_heartbeat_at, down_since_utc }: MonitorDoc): boolean =>
  last_heartbeat_at !== null && down_since_utc !== null && last_heartbeat_at >= down_since_utc;

export function formatReportReason({ exit_code, probed }: { exit_code?: number | null; probed?: boolean }): string {
  if (typeof exit_code === 'number') return `Exit code ${exit_code}`;
  return probed === true ? 'The check failed' : 'A failure was reported';
}

export function formatSilenceReason(doc: MonitorDoc, now: number): string {
  if (isReportedDown(doc)) return formatReportReason({ exit_code: doc.exit_code ?? null });
  return formatReason(doc, { ...EMPTY_CONTEXT, probed: doc.probed === true }, now);
}

const EMPTY_CONTEXT: DownContext = { parent: null, siblings: 0, together: 0, probed: false };

function formatReason(doc: MonitorDoc, { probed }: DownContext, now: number): string {
  const { last_heartbeat_at, schedule, timezone, period_seconds, message } = doc;
  if (isReportedDown(doc)) {
    const text = message?.trim().replace(/[.\s]+$/, '') ?? '';
    const truncatedText = text.length > MAX_MESSAGE_CHARACTERS ? `${text.slice(0, MAX_MESSAGE_CHARACTERS)}…` : text;
    if (probed) return truncatedText === '' ? 'The last check failed' : `The last check failed: ${truncatedText}`;
    return truncatedText === '' ? 'An error was reported' : `An error was reported: ${truncatedText}`;
  }
  const begun = findRunStart(doc);
  if (begun !== null && now > begun + getRunLimit(doc))
    return `A run that started ${formatElapsed(now - begun)} ago exceeded its limit of ${formatElapsed(getRunLimit(doc))}`;
  if (last_heartbeat_at === null) return 'No heartbeat received yet';
  const last = Date.parse(last_heartbeat_at);
  const grace = formatElapsed((doc.grace_seconds ?? DEFAULT_GRACE_SECONDS) * 1000);
  const silence = `No ${probed ? 'check result' : 'heartbeat'} for ${formatElapsed(now - last)}`;
  if (period_seconds)
    return `${silence}; expected every ${formatElapsed(period_seconds * 1000)} with a grace period of ${grace}`;
  if (!schedule) return `${silence}; expected every ${formatElapsed(getIntervalSeconds(doc) * 1000)}`;
  return `${silence}; expected by ${schedule} (${timezone ?? 'UTC'}) with a grace period of ${grace}`;
}

const STATE_PHRASES: Readonly<Record<MonitorState, string>> = {
  up: 'is up',
  warning: 'is in warning',
  down: 'is also down',
  unknown: 'has never reported',
  stopped: 'is stopped',
  maintenance: 'is in maintenance',
};

function describeContext({ parent, siblings, together }: DownContext): string[] {
  if (parent === null) return [];
  const others = siblings === 1 ? 'its only sibling' : `${together} of ${siblings} siblings`;
  const near =
    siblings === 0 ? null : together === 0 ? 'no siblings went down' : `${others} went down within the same minute`;
  return [`its parent ${parent.name} ${STATE_PHRASES[parent.state]}`, ...(near === null ? [] : [near])];
}
