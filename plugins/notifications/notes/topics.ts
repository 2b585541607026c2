export const TOPICS = {
  'monitor.down': 'A monitor is down, and its recovery',
  'monitor.warning': 'A monitor reports a warning or a failed check, or is late',
  'monitor.certificate_expiring': 'A certificate expires soon',
  'bug.created': 'A new bug or error',
  'bug.regression': 'A regression: a fixed problem is back',
  'bug.critical': 'An item has become critical',
  'feature.created': 'A feature request',
  'error.rate_exceeded': 'A muted error happens more often than its rule allows',
  'release.published': 'A release was published',
  'release.halted': 'A rollout has stopped by itself',
  'release.rolled_back': 'A channel was rolled back to an earlier release',
  'webhook.disabled': 'A webhook has disabled itself',
  'channel.disabled': 'A notification channel has disabled itself',
} as const;
export type Topic = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];

/**
 * Events that end a fault. They go to receivers of its beginning, and to channels that list them.
 */
export const END_EVENTS = ['monitor.recovered', 'monitor.alarm_closed', 'bug.resolved'] as const;

export const EVENT_NAMES: readonly string[] = [...TOPIC_NAMES, ...END_EVENTS];

export const LISTENED_EVENTS: readonly string[] = EVENT_NAMES.filter((name) => name !== 'bug.regression');
