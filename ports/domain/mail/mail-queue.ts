/** E-mail to people outside: what other plugins hand over is stored, and sent once there is a server that takes it. */
import { token } from '../../token.js';

export interface OutgoingMail {
  /** Of the mail: a second one with the same id is the same mail. */
  id: string;
  /** By which mails are dropped together: what they are about, and who gets them. */
  subject_id: string;
  recipient_id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Further headers, ASCII. */
  headers: Readonly<Record<string, string>>;
  /** It goes before the others: somebody waits for it. */
  urgent: boolean;
}

export interface MailQueue {
  /** Whether a mail server is configured. */
  readonly configured: boolean;
  /** Resolves when the mails are stored; they are sent from then on. */
  enqueue(mails: readonly OutgoingMail[]): Promise<void>;
  /** Drops what is not sent yet. */
  drop(which: { subject_id: string } | { recipient_id: string }): Promise<void>;
}

export const MAIL_QUEUE = token<MailQueue>('notifications.mail_queue');
