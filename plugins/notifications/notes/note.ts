import type { Scalar } from '../../../ports/store/index.js';
import type { Topic } from './topics.js';

export const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const;
export type NotificationSeverity = (typeof SEVERITIES)[number];

/** `recovered`: resolved; `closed`: ended otherwise, for example by deletion. */
export type NotificationPhase = 'begin' | 'reminder' | 'acknowledged' | 'unassigned' | 'recovered' | 'closed';

export interface Notification {
  /** Null for a later phase, sent to receivers of the beginning. */
  topic: Topic | null;
  phase: NotificationPhase;
  severity: NotificationSeverity;
  title: string;
  text: string;
  path: string;
  fault: string | null;
  monitor: string | null;
  tags: readonly string[] | null;
  details: Record<string, Scalar>;
}

export interface ChannelDisabled {
  id: string;
  name: string;
  kind: string;
  reason: string;
}
