import { extensionPoint, token } from '../../token.js';

export interface OutgoingMail {
  /** Idempotency key of the mail. */
  id: string;
  subject_id: string;
  recipient_id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Further headers, ASCII. */
  headers: Readonly<Record<string, string>>;
  /** Sent before other mails. */
  urgent: boolean;
}

export interface MailQueue {
  readonly isConfigured: boolean;
  /** Resolves once they are stored. */
  enqueue(mails: readonly OutgoingMail[]): Promise<void>;
  drop(which: { subject_id: string } | { recipient_id: string }): Promise<void>;
}

export const MAIL_QUEUE = token<MailQueue>('notifications.mail_queue');

/** For the accounts, which the plugin with the queue depends on. */
export const MAIL_QUEUES = extensionPoint<MailQueue>('access.mail_queues');
