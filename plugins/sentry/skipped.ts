/**
 * Items that this service does not keep. The answer sets a rate limit for their category, so the SDK stops sending them
 * for a while. Otherwise an application with tracing on would spend its rate limit on transactions that are thrown
 * away. Pure.
 */
import type { EnvelopeItem } from './envelope.js';
import { isSession, weightOfSessions } from './session.js';

const QUIET_SECONDS = 3600;

/** Item type → the SDKs' category for it. Client reports are rare and have none. */
const CATEGORIES: Readonly<Record<string, string>> = {
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

/** Under which name SDKs are asked to wait with items of a type; undefined: they cannot be asked. */
export const categoryOf = (type: string): string | undefined =>
  Object.hasOwn(CATEGORIES, type) ? CATEGORIES[type] : undefined;

/** What an envelope costs of each category, by the items that are taken: the others cost nothing. */
export function countCategories(
  items: readonly EnvelopeItem[],
  taken: (type: string) => boolean,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { type, payload } of items) {
    const category = taken(type) ? categoryOf(type) : undefined;
    const units = isSession(type) ? weightOfSessions(payload) : 1;
    if (category !== undefined) counts.set(category, (counts.get(category) ?? 0) + units);
  }
  return counts;
}

/** `60:error:key, 5:session:key`: how many seconds an SDK keeps items of each category to itself. */
export const limitsHeader = (limited: ReadonlyMap<string, number>): string =>
  [...limited].map(([category, seconds]) => `${seconds}:${category}:key`).join(', ');

/**
 * The value of `X-Sentry-Rate-Limits`; null when the envelope held nothing that is not taken.
 * @param taken whether items of this type are taken
 * @param limited categories that are used up, with the seconds until they are taken again
 */
export function quietHeader(
  items: readonly EnvelopeItem[],
  taken: (type: string) => boolean,
  limited: ReadonlyMap<string, number>,
): string | null {
  const quiet = new Set<string>();
  for (const { type } of items) {
    const category = taken(type) ? undefined : categoryOf(type);
    if (category !== undefined) quiet.add(category);
  }
  const parts = [
    ...(quiet.size === 0 ? [] : [`${QUIET_SECONDS}:${[...quiet].join(';')}:key`]),
    ...(limited.size === 0 ? [] : [limitsHeader(limited)]),
  ];
  return parts.length === 0 ? null : parts.join(', ');
}
