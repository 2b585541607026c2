import type { ChannelDestination } from '../channels/channel.js';
import type { NotificationMessage } from '../notes/message.js';
import type { RecipientResult } from '../notes/stored-notification.js';
import { fitMessage } from './message-splitter.js';
import { SendError, type MessageSender } from '../services/sender.js';

const RECIPIENT_TIMEOUT_MS = 20_000;
/** The lease of the channel ends soon. */
const ATTEMPT_TIMEOUT_MS = 25_000;

export interface SendAttemptResult {
  /** In recipient order; `waiting`: a retry may succeed. */
  results: RecipientResult[];
  retryAfterMs: number;
  content: boolean;
}

/**
 * @param recipients remaining ones; one empty text for a single receiver
 * @param isBare removes internal hosts from errors, which project tokens can read
 */
export async function sendMessageAttempt(
  sender: MessageSender,
  message: NotificationMessage,
  destination: ChannelDestination,
  recipients: readonly string[],
  isBare: boolean,
): Promise<SendAttemptResult> {
  const began = performance.now();
  const attempt: SendAttemptResult = { results: [], retryAfterMs: 0, content: false };
  const fitted = fitMessage(message, sender);
  let server: SendError | null = null;
  for (const address of recipients) {
    if (server === null && performance.now() - began > ATTEMPT_TIMEOUT_MS)
      server = new SendError('The server timed out for earlier recipients.', false);
    const error: SendError | null = server ?? (await sendWithTimeout(sender, fitted, destination, address));
    if (error?.more.server === true) server = error;
    attempt.retryAfterMs = Math.max(attempt.retryAfterMs, error?.more.retryAfterMs ?? 0);
    attempt.content ||= error?.more.content === true;
    const state = error === null ? 'sent' : error.permanent ? 'failed' : 'waiting';
    const text = (isBare ? error?.more.bare : undefined) ?? error?.message ?? null;
    attempt.results.push({ address, state, error: text });
  }
  return attempt;
}

async function sendWithTimeout(
  sender: MessageSender,
  message: NotificationMessage,
  destination: ChannelDestination,
  recipient: string,
): Promise<SendError | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<SendError>((resolve) => {
    timer = setTimeout(
      () => resolve(new SendError('The receiver timed out.', false, { server: true })),
      RECIPIENT_TIMEOUT_MS,
    );
  });
  const sent = sender.send(message, destination, recipient).then(() => null, toSendError);
  return Promise.race([sent, late]).finally(() => clearTimeout(timer));
}

const toSendError = (error: unknown): SendError =>
  error instanceof SendError ? error : new SendError(error instanceof Error ? error.message : String(error), false);

/** `b@example.org: 550 no such user`; null when none failed. */
export function describeFailures(results: readonly RecipientResult[]): string | null {
  const failures = results.filter(({ state }) => state !== 'sent');
  if (failures.length === 0) return null;
  return failures
    .map(({ address, error }) => (address === '' ? (error ?? '') : `${address}: ${error ?? ''}`))
    .join(' ');
}
