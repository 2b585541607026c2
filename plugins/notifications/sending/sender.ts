/** What every kind of channel does: send one message. */
import type { Message } from '../notes/message.js';
import { unlinked } from './escaping.js';

export interface Sender {
  /** Resolves when the receiver has taken it. @throws SendError */
  send(message: Message, target: string, secret: string | null): Promise<void>;
}

/** Why a message was not taken. */
export class SendError extends Error {
  override name = 'SendError';
  /** @param permanent another attempt would be refused too */
  constructor(
    message: string,
    readonly permanent: boolean,
  ) {
    super(message);
  }
}

/** The message as plain text, for receivers without markup. */
export function textOf({ lines, more, url }: Message): string {
  const listed = lines.map(
    (line) => `${line.end ? '' : `[${line.severity}] `}${unlinked(line.title)}\n${unlinked(line.text)}\n${line.url}`,
  );
  return [...listed, ...(more > 0 ? [`and ${more} more: ${url}`] : [])].join('\n\n');
}
