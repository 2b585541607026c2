/** What every kind of channel does: send one message. */
import type { Destination } from '../channels/channel.js';
import type { OutgoingMail } from '../../../ports/domain/mail/mail-queue.js';
import { isEnd, type Message, type MessageLine } from '../notes/message.js';
import { disableAutolinks } from './escaping.js';

/** What one message of a receiver may hold. */
export interface MessageLimits {
  notes: number;
  /** Bytes of titles, texts and addresses together, as they are sent. */
  bytes: number;
  /** Characters of a title with its escapes; absent: not limited by itself. */
  title?: number;
}

export interface Sender {
  readonly limits: MessageLimits;
  /** Whom it is sent to, one by one; absent: the channel has one receiver. */
  recipients?(target: string): string[];
  /**
   * Resolves when the receiver has taken it.
   * @param recipient one of `recipients`
   * @throws SendError
   */
  send(message: Message, destination: Destination, recipient: string): Promise<void>;
  /** Size of a line as it is sent, for `limits.bytes`; absent: that of the plain text. */
  measure?(line: MessageLine): number;
}

/** Sends mails that are ready. */
export interface MailSender {
  /** @throws SendError */
  sendMail(mail: Pick<OutgoingMail, 'id' | 'to' | 'subject' | 'text' | 'html' | 'headers'>): Promise<void>;
}

/** Why a message was not taken. */
export class SendError extends Error {
  override name = 'SendError';
  /** @param permanent another attempt would be rejected too */
  constructor(
    message: string,
    readonly permanent: boolean,
    readonly more: {
      /** Not before so many milliseconds. */
      retryAfterMs?: number;
      /** The receiver rejected the content, so that a smaller message may be taken. */
      content?: boolean;
      /** It concerns no single recipient: the server cannot be reached, or rejects the login. */
      server?: boolean;
      /** The message without what internal hosts answered; not set: it is the same. */
      bare?: string;
    } = {},
  ) {
    super(message);
  }
}

/** The message as plain text, for receivers without markup. */
export function toText({ lines }: Message): string {
  return lines
    .map(
      (line) =>
        `${isEnd(line) ? '' : `[${line.severity}] `}${disableAutolinks(line.title)}\n${disableAutolinks(line.text)}\n${line.when}\n${line.url}`,
    )
    .join('\n\n');
}
