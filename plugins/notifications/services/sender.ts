import type { ChannelDestination } from '../channels/channel.js';
import type { OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { isEndOfFault, type NotificationMessage, type MessageLine } from '../notes/message.js';
import { disableAutolinks } from './text-escaping.js';

export interface MessageLimits {
  notes: number;
  bytes: number;
  /** Characters when escaped; absent: no separate limit. */
  title?: number;
}

export interface MessageSender {
  readonly limits: MessageLimits;
  /** Absent for a single receiver. */
  listRecipients?(target: string): string[];
  /**
   * Resolves when accepted.
   * @param recipient one of `listRecipients`
   * @throws SendError
   */
  send(message: NotificationMessage, destination: ChannelDestination, recipient: string): Promise<void>;
  measure?(line: MessageLine): number;
}

export interface MailSender {
  /** @throws SendError */
  sendMail(mail: Pick<OutgoingMail, 'id' | 'to' | 'subject' | 'text' | 'html' | 'headers'>): Promise<void>;
}

/** The message was not accepted. */
export class SendError extends Error {
  override name = 'SendError';
  /** @param permanent a retry would fail */
  constructor(
    message: string,
    readonly permanent: boolean,
    readonly more: {
      retryAfterMs?: number;
      /** A smaller message may succeed. */
      content?: boolean;
      /** For all recipients: the server is unreachable or rejects the login. */
      server?: boolean;
      /** Without responses of internal hosts, when different. */
      bare?: string;
    } = {},
  ) {
    super(message);
  }
}

export function toPlainMessage({ lines }: NotificationMessage): string {
  return lines
    .map(
      (line) =>
        `${isEndOfFault(line) ? '' : `[${line.severity}] `}${disableAutolinks(line.title)}\n${disableAutolinks(line.text)}\n${line.when}\n${line.url}`,
    )
    .join('\n\n');
}
