import type { BADGE_COLOURS } from '../../../lib/text/badge.js';
import type { AnnouncementState } from './announcement.js';
import type { ShownState } from './condition.js';

export const STATE_WORDS: Readonly<Record<AnnouncementState, string>> = {
  investigating: 'Investigating',
  identified: 'Cause found',
  monitoring: 'Watching the fix',
  resolved: 'Resolved',
  planned: 'Planned',
  underway: 'Under way',
  completed: 'Completed',
};

export const CONDITION_WORDS: Readonly<Record<ShownState, { one: string; all: string; tone: string }>> = {
  up: { one: 'Operational', all: 'All systems are operational', tone: 'success' },
  warning: { one: 'Degraded', all: 'Some systems are degraded', tone: 'warning' },
  down: { one: 'Outage', all: 'Some systems are down', tone: 'critical' },
  maintenance: { one: 'Planned work', all: 'Planned work is under way', tone: 'info' },
  none: { one: 'No data', all: 'Nothing is known yet', tone: 'none' },
};

export const BADGE: Readonly<Record<ShownState, readonly [word: string, colour: keyof typeof BADGE_COLOURS]>> = {
  up: ['operational', 'green'],
  warning: ['degraded', 'yellow'],
  down: ['outage', 'red'],
  maintenance: ['planned work', 'blue'],
  none: ['no data', 'grey'],
};
