/**
 * Rate limits for items that are not stored, so that these do not use up an application's rate
 * limit.
 */
import type { EnvelopeItem } from './envelope.js';
import { isSession, estimateSessionUnits } from './session.js';

const QUIET_SECONDS = 3600;

/** Client reports are rare and have none. */
const SDK_CATEGORIES: Readonly<Record<string, string>> = {
  event: 'error',
  feedback: 'feedback',
  user_report: 'feedback',
  session: 'session',
  sessions: 'session',
  transaction: 'transaction',
  span: 'span',
  profile: 'profile',
  profile_chunk: 'profile_chunk',
  replay_event: 'replay',
  replay_recording: 'replay',
  replay_video: 'replay',
  check_in: 'monitor',
  log: 'log_item',
  trace_metric: 'trace_metric',
  statsd: 'metric_bucket',
  attachment: 'attachment',
};

export const getSdkCategory = (type: string): string | undefined =>
  Object.hasOwn(SDK_CATEGORIES, type) ? SDK_CATEGORIES[type] : undefined;

export function countCategories(
  items: readonly EnvelopeItem[],
  isAccepted: (type: string) => boolean,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { type, payload } of items) {
    const category = isAccepted(type) ? getSdkCategory(type) : undefined;
    const units = isSession(type) ? estimateSessionUnits(payload) : 1;
    if (category !== undefined) counts.set(category, (counts.get(category) ?? 0) + units);
  }
  return counts;
}

export const formatLimits = (limited: ReadonlyMap<string, number>): string =>
  [...limited].map(([category, seconds]) => `${seconds}:${category}:key`).join(', ');

/**
 * `X-Sentry-Rate-Limits`, or null when all were accepted.
 * @param isAccepted whether this type is accepted
 * @param limited category → seconds until accepted again
 */
export function buildRateLimitsHeader(
  items: readonly EnvelopeItem[],
  isAccepted: (type: string) => boolean,
  limited: ReadonlyMap<string, number>,
): string | null {
  const quiet = new Set<string>();
  for (const { type } of items) {
    const category = isAccepted(type) ? undefined : getSdkCategory(type);
    if (category !== undefined) quiet.add(category);
  }
  const parts = [
    ...(quiet.size === 0 ? [] : [`${QUIET_SECONDS}:${[...quiet].join(';')}:key`]),
    ...(limited.size === 0 ? [] : [formatLimits(limited)]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}
