/**
 * Items that this service does not keep. The answer sets a rate limit for their category, so the SDK stops sending them
 * for a while. Otherwise an application with tracing on would spend its rate limit on transactions that are thrown
 * away. Pure.
 */
import type { EnvelopeItem } from './envelope.js';

const QUIET_SECONDS = 3600;

/** Item type → the SDKs' categories for it. Client reports are rare and have none. */
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

/**
 * The value of `X-Sentry-Rate-Limits`; null when the envelope held no such item.
 * @param taken whether somebody takes items of this type
 */
export function quietHeader(items: readonly EnvelopeItem[], taken: (type: string) => boolean): string | null {
  const categories = new Set<string>();
  for (const { type } of items) {
    const category = type !== 'event' && Object.hasOwn(CATEGORIES, type) && !taken(type) ? CATEGORIES[type] : undefined;
    if (category !== undefined) categories.add(category);
  }
  return categories.size === 0 ? null : `${QUIET_SECONDS}:${[...categories].join(';')}:key`;
}
