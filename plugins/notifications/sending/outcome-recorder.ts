/**
 * First in the notifications, then in the channel. A channel disables itself when a notification
 * fails finally and none succeeded for 24 hours; waiting ones are retained.
 */
import type { Clock, Collection, Ids, Logger } from '../../../kernel/contract/index.js';
import type { Cipher } from '../../../ports/cipher.js';
import { formatOutboundFault } from '../../../lib/http/outbound-fault.js';
import { DueTimeTracker } from '../../../lib/clock-skew.js';
import { toIsoString, MINUTE_MS } from '../../../lib/time.js';
import type { Channel } from '../channels/channel.js';
import type { RecipientResult, StoredNotification } from '../notes/stored-notification.js';
import { describeFailures, type SendAttemptResult } from './send-attempt.js';
import { getNotificationRetryDelay, MAX_RETRY_DURATION_MS } from './retry-schedule.js';

const ENCRYPTION_PURPOSE = 'notifications.recipients';
const MAX_ERROR_CHARACTERS = 2_000;

export interface OutcomeRecorderDeps {
  notes: Collection<StoredNotification>;
  channels: Collection<Channel>;
  cipher: Cipher;
  clock: Clock;
  ids: Ids;
  log: Logger;
}

type OutcomeFields = Pick<StoredNotification, 'state' | 'error' | 'recipients'> &
  Partial<Pick<StoredNotification, 'sent_at' | 'first_attempt_at' | 'attempts' | 'send_at'>>;

export class OutcomeRecorder {
  readonly sendTimes: DueTimeTracker;

  constructor(private readonly parts: OutcomeRecorderDeps) {
    this.sendTimes = new DueTimeTracker(parts.clock);
  }

  readRecipients({ recipients }: Pick<StoredNotification, 'recipients'>): RecipientResult[] | null {
    if (recipients === null || recipients === undefined) return null;
    return JSON.parse(this.parts.cipher.open(recipients, ENCRYPTION_PURPOSE)) as RecipientResult[];
  }

  /**
   * @param batch of one message
   * @param before earlier attempts
   * @param isFresh starts a new digest interval
   * @returns the updated channel
   */
  async record(
    channel: Channel,
    batch: readonly StoredNotification[],
    before: readonly RecipientResult[],
    attempt: SendAttemptResult,
    isFresh: boolean,
  ): Promise<Channel> {
    const now = this.parts.clock.now();
    const merged = mergeResults(before, attempt.results);
    const error = describeFailures(merged)?.slice(0, MAX_ERROR_CHARACTERS) ?? null;
    const hasSent = attempt.results.some(({ state }) => state === 'sent');
    const failing_since = hasSent ? null : (channel.failing_since ?? toIsoString(now));
    const hasFailedLong = failing_since !== null && Date.parse(failing_since) <= now - MAX_RETRY_DURATION_MS;
    const set = this.#buildNotificationFields(batch, merged, attempt, { now, error, keeps: hasFailedLong });
    await this.parts.notes.changeMany({ channel_id: channel.id, id: { in: batch.map(({ id }) => id) } }, { set });
    const hasEnded = set.state === 'failed' || (set.state === 'waiting' && set.attempts === 0);
    const digest = isFresh && hasSent && channel.digest_minutes > 0;
    const changed: Partial<Channel> = {
      last_error: error,
      failing_since,
      ...(hasSent && { last_sent_at: toIsoString(now) }),
      ...(digest && { next_at: this.sendTimes.scheduleAt(now + channel.digest_minutes * MINUTE_MS) }),
      ...(hasEnded && hasFailedLong && this.#buildDisabledFields(now, error)),
    };
    if (error !== null)
      this.parts.log.warn(
        { channel: channel.id, kind: channel.kind, state: set.state, error },
        'notification not delivered',
      );
    await this.parts.channels.change({ id: channel.id }, { set: changed as Record<string, never> });
    return { ...channel, ...changed };
  }

  #buildNotificationFields(
    batch: readonly StoredNotification[],
    merged: readonly RecipientResult[],
    { retryAfterMs }: SendAttemptResult,
    { now, error, keeps: shouldRetain }: { now: number; error: string | null; keeps: boolean },
  ): OutcomeFields {
    const hasReached = merged.some(({ state }) => state === 'sent');
    const isPartial = hasReached && merged.some(({ state }) => state !== 'sent');
    const recipients = isPartial ? this.parts.cipher.seal(JSON.stringify(merged), ENCRYPTION_PURPOSE) : null;
    const ended: OutcomeFields = { state: hasReached ? 'sent' : 'failed', error, recipients };
    const sent_at = hasReached ? toIsoString(now) : null;
    if (!merged.some(({ state }) => state === 'waiting')) return { ...ended, sent_at };
    const first = batch
      .map(({ first_attempt_at }) => first_attempt_at ?? toIsoString(now))
      .reduce((a, b) => (a < b ? a : b));
    const attempts = Math.max(...batch.map((note) => note.attempts)) + 1;
    const last = Date.parse(first) + MAX_RETRY_DURATION_MS;
    if (now < last)
      return {
        state: 'waiting',
        error,
        recipients,
        first_attempt_at: first,
        send_at: this.sendTimes.scheduleAt(Math.min(now + getNotificationRetryDelay(attempts, retryAfterMs), last)),
      };
    if (hasReached || !shouldRetain) return { ...ended, sent_at };
    // Unsent notifications wait until the channel is enabled.
    return {
      state: 'waiting',
      error,
      recipients: null,
      first_attempt_at: null,
      attempts: 0,
      send_at: toIsoString(now),
    };
  }

  #buildDisabledFields(now: number, error: string | null): Partial<Channel> {
    const { ids } = this.parts;
    return {
      enabled: false,
      disabled_at: toIsoString(now),
      disabled_reason: `No message was delivered for 24 hours. Last error: ${error === null ? 'unknown' : formatOutboundFault(error)}`,
      disabled_event: `evt_${ids.uuid()}`,
    };
  }
}

function mergeResults(before: readonly RecipientResult[], results: readonly RecipientResult[]): RecipientResult[] {
  const newest = new Map(before.map((result) => [result.address, result]));
  for (const result of results) newest.set(result.address, result);
  return [...newest.values()];
}
