import type { BADGE_COLOURS } from '../../../lib/text/badge.js';
import type { AnnouncementState } from './announcement.js';
import type { ComponentState } from './component-condition.js';

export const ANNOUNCEMENT_STATE_LABELS: Readonly<Record<AnnouncementState, string>> = {
  investigating: 'Investigating',
  identified: 'Identified',
  monitoring: 'Monitoring',
  resolved: 'Resolved',
  planned: 'Planned',
  underway: 'In progress',
  completed: 'Completed',
};

export const COMPONENT_STATE_LABELS: Readonly<Record<ComponentState, { one: string; all: string; tone: string }>> = {
  up: { one: 'Operational', all: 'All systems are operational', tone: 'success' },
  warning: { one: 'Degraded', all: 'Some systems are degraded', tone: 'warning' },
  down: { one: 'Outage', all: 'Some systems are down', tone: 'critical' },
  maintenance: { one: 'Planned work', all: 'Planned work in progress', tone: 'info' },
  none: { one: 'No data', all: 'No data yet', tone: 'none' },
};

export const STATE_BADGES: Readonly<
  Record<ComponentState, readonly [word: string, colour: keyof typeof BADGE_COLOURS]>
> = {
  up: ['operational', 'green'],
  warning: ['degraded', 'yellow'],
  down: ['outage', 'red'],
  maintenance: ['planned work', 'blue'],
  none: ['no data', 'grey'],
};
