/** A note as it waits for one channel. */
import type { Doc } from '../../../kernel/contract.js';
import type { NoteSeverity } from './note.js';

/** `sending`: an attempt is under way, or was when the process ended; then it is sent again. */
export type NoteState = 'waiting' | 'sending' | 'sent' | 'failed';

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
  end: boolean;
  state: NoteState;
  attempts: number;
  /** Not before. */
  send_at: string;
  /** Of the message that carries it. */
  message_id: string | null;
  error: string | null;
  sent_at: string | null;
}
