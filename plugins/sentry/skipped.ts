/**
 * Items that this service does not keep. The answer tells the SDK so in its own words, a rate limit of the category, and it
 * sends no more of them for a while: with tracing on, an application would otherwise spend the bucket of its errors on
 * transactions that nobody stores. Pure.
 */
import type { EnvelopeItem } from './envelope.js';

const QUIET_SECONDS = 3600;

/** Item type → the categories that SDKs file it under. Client reports, which are rare, have none. */
const CATEGORIES: Readonly<Record<string, string>> = {
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

/** The value of `X-Sentry-Rate-Limits`; null when the envelope held nothing of the kind. */
export function quietHeader(items: readonly EnvelopeItem[]): string | null {
  const categories = new Set<string>();
  for (const { type } of items) {
    const category = type !== 'event' && Object.hasOwn(CATEGORIES, type) ? CATEGORIES[type] : undefined;
    if (category !== undefined) categories.add(category);
  }
  return categories.size === 0 ? null : `${QUIET_SECONDS}:${[...categories].join(';')}:key`;
}
