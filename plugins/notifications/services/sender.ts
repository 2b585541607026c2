import type { ChannelDestination } from '../channels/channel.js';
import type { OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { isEndOfFault, type NotificationMessage, type MessageLine } from '../notes/message.js';
import { disableAutolinks } from './text-escaping.js';

export interface MessageLimits {
  notes: number;
  bytes: number;
  /** Characters of an escaped title; absent means no separate limit. */
  title?: number;
}

export interface MessageSender {
  readonly limits: MessageLimits;
  /** Splits the target into recipients; absent for a single receiver. */
  listRecipients?(target: string): string[];
  /**
   * Resolves when the receiver accepted the message.
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
  /** @param permanent a retry would fail too */
  constructor(
    message: string,
    readonly permanent: boolean,
    readonly more: {
      retryAfterMs?: number;
      /** The receiver rejected the content; a smaller message may succeed. */
      content?: boolean;
      /** It concerns all recipients: the server is unreachable or rejects the login. */
      server?: boolean;
      /** The message without responses of internal hosts, when it differs. */
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
