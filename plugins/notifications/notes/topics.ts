export const TOPICS = {
  'monitor.down': 'Monitor down and recovered',
  'monitor.warning': 'Monitor warning or late heartbeat',
  'monitor.certificate_expiring': 'Certificate expires soon',
  'bug.created': 'New bug or error',
  'bug.regression': 'Regression',
  'bug.critical': 'Issue became critical',
  'feature.created': 'New feature request',
  'error.rate_exceeded': 'Muted error over its limit',
  'release.published': 'Release published',
  'release.halted': 'Rollout halted',
  'release.rolled_back': 'Channel rolled back',
  'webhook.disabled': 'Webhook disabled',
  'channel.disabled': 'Alert channel disabled',
} as const;
export type Topic = keyof typeof TOPICS;
export const TOPIC_NAMES = Object.keys(TOPICS) as Topic[];

/** They go to receivers of its beginning, and to channels that list them. */
export const END_EVENTS = ['monitor.recovered', 'monitor.alarm_closed', 'bug.resolved'] as const;

export type EndEvent = (typeof END_EVENTS)[number];
export const END_LABELS: Readonly<Record<EndEvent, string>> = {
  'monitor.recovered': 'Monitor recovered',
  'monitor.alarm_closed': 'Monitor alert closed without recovery',
  'bug.resolved': 'Issue resolved',
};

export const EVENT_NAMES: readonly string[] = [...TOPIC_NAMES, ...END_EVENTS];

export const LISTENED_EVENTS: readonly string[] = EVENT_NAMES.filter((name) => name !== 'bug.regression');
