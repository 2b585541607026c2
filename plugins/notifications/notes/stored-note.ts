/** A notification as it waits for one channel. */
import type { Doc } from '../../../kernel/contract.js';
import type { Scalar } from '../../../ports/store.js';
import type { NotePhase, NoteSeverity } from './note.js';

/**
 * `sending`: an attempt is under way, or was when the process ended; then it is sent again. `damped`: the alarm ended
 * before it was sent. `expired`: its channel stayed disabled for too long.
 */
export const NOTE_STATES = ['waiting', 'sending', 'sent', 'failed', 'damped', 'expired'] as const;
export type NoteState = (typeof NOTE_STATES)[number];

/** What became of one recipient of several. */
export interface RecipientResult {
  address: string;
  state: 'waiting' | 'sent' | 'failed';
  error: string | null;
}

export interface StoredNote extends Doc {
  channel_id: string;
  event: string;
  severity: NoteSeverity;
  title: string;
  text: string;
  url: string;
  /** When it happened. */
  at: string;
  fault: string | null;
  /** It goes to those who were sent the beginning. */
  end: boolean;
  /** Absent in older documents. */
  phase?: NotePhase;
  /** Source of the monitor, or ref of the item. */
  subject?: string | null;
  /** Values for templates. */
  details?: Record<string, Scalar>;
  /** The beginning of a monitor's fault that has not ended and that no one has acknowledged. */
  open?: boolean;
  reminded_at?: string | null;
  /** Reminders so far. */
  reminders?: number;
  /** It is held back because the monitor's alarms come too often. */
  flapping?: boolean;
  state: NoteState;
  attempts: number;
  first_attempt_at?: string | null;
  /** Encrypted JSON of `RecipientResult[]`, once an attempt has reached only some. */
  recipients?: string | null;
  /** Not before. */
  send_at: string;
  /** Of the message that carries it. */
  message_id: string | null;
  error: string | null;
  sent_at: string | null;
}

/** Of any version's document. */
export const getPhase = ({ phase, end }: Pick<StoredNote, 'phase' | 'end'>): NotePhase =>
  phase ?? (end ? 'recovered' : 'begin');
