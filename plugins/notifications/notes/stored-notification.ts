import type { Doc } from '../../../kernel/contract/index.js';
import type { Scalar } from '../../../ports/store/index.js';
import type { NotificationPhase, NotificationSeverity } from './note.js';

/**
 * `sending`: running, or interrupted and repeated. `damped`: the alarm ended before. `expired`: its
 * channel stayed disabled for too long.
 */
export const NOTIFICATION_STATES = ['waiting', 'sending', 'sent', 'failed', 'damped', 'expired'] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

export interface RecipientResult {
  address: string;
  state: 'waiting' | 'sent' | 'failed';
  error: string | null;
}

export interface StoredNotification extends Doc {
  channel_id: string;
  event: string;
  severity: NotificationSeverity;
  title: string;
  text: string;
  url: string;
  at: string;
  fault: string | null;
  end: boolean;
  /** Absent in older documents. */
  phase?: NotificationPhase;
  subject?: string | null;
  details?: Record<string, Scalar>;
  /** A start that neither ended nor was acknowledged. */
  open?: boolean;
  reminded_at?: string | null;
  reminders?: number;
  flapping?: boolean;
  state: NotificationState;
  attempts: number;
  first_attempt_at?: string | null;
  /** Encrypted JSON of `RecipientResult[]`, when only some were reached. */
  recipients?: string | null;
  send_at: string;
  message_id: string | null;
  error: string | null;
  sent_at: string | null;
}

export const getNotificationPhase = ({ phase, end }: Pick<StoredNotification, 'phase' | 'end'>): NotificationPhase =>
  phase ?? (end ? 'recovered' : 'begin');
