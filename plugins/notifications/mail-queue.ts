/**
 * For other plugins, with the retries of notifications. Claiming moves `send_at` by a lease, so
 * that only one process sends a mail and a crash leaves it due. The id of a sent mail is retained,
 * so that enqueueing it again sends nothing.
 */
import type { Clock, Collection, Doc, Logger } from '../../kernel/contract/index.js';
import { DAY_MS, HOUR_MS, toIsoString, MINUTE_MS } from '../../lib/time.js';
import type { Cipher } from '../../ports/cipher.js';
import type { MailQueue, OutgoingMail } from '../../ports/domain/mail/mail-queue.js';
import { getNotificationRetryDelay, MAX_RETRY_DURATION_MS } from './sending/retry-schedule.js';
import { SendError, type MailSender } from './services/sender.js';

const SEAL_PURPOSE = 'queued-mail';
const MAIL_LEASE_MS = 2 * MINUTE_MS;
const BATCH_SIZE = 50;
/** Longer than the retries of any producer. */
const SENT_RETENTION_MS = 2 * DAY_MS;
/** Later times were written while the clock ran ahead. */
const MAX_WAIT_MS = 2 * HOUR_MS;

export interface StoredMail extends Doc {
  subject_id: string;
  recipient_id: string;
  state: 'waiting' | 'sent' | 'failed';
  /** 0 is urgent. */
  rank: number;
  /** Moved by the lease of a sending process. */
  send_at: string;
  attempts: number;
  created_at: string;
  /** Encrypted, because a text may contain a license key; null after the last attempt. */
  mail: string | null;
}

type MailContent = Pick<OutgoingMail, 'to' | 'subject' | 'text' | 'html' | 'headers'>;

export class StoredMailQueue implements MailQueue {
  #run: Promise<void> | null = null;
  #again = false;
  #stopped = false;

  /** @param sender null without a mail server */
  constructor(
    private readonly rows: Collection<StoredMail>,
    private readonly sender: MailSender | null,
    private readonly cipher: Pick<Cipher, 'seal' | 'open'>,
    private readonly clock: Pick<Clock, 'now' | 'iso'>,
    private readonly log: Pick<Logger, 'warn' | 'error'>,
  ) {}

  get isConfigured(): boolean {
    return this.sender !== null;
  }

  async enqueue(mails: readonly OutgoingMail[]): Promise<void> {
    const now = this.clock.iso();
    await this.rows.bulk(
      mails.map(({ id, subject_id, recipient_id, to, subject, text, html, headers, urgent }) => ({
        insert: {
          id,
          subject_id,
          recipient_id,
          state: 'waiting',
          rank: urgent ? 0 : 1,
          send_at: now,
          attempts: 0,
          created_at: now,
          mail: this.#seal({ to, subject, text, html, headers }),
        },
      })),
    );
    this.wake();
  }

  async drop(which: { subject_id: string } | { recipient_id: string }): Promise<void> {
    await this.rows.remove({ ...which, state: 'waiting' });
  }

  wake(): void {
    this.#again = true;
    if (this.#run !== null || this.#stopped || this.sender === null) return;
    this.#run = this.#runLoop(this.sender).finally(() => (this.#run = null));
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#run !== null) await this.#run;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.waitUntilIdle();
  }

  async removeExpired(): Promise<void> {
    const before = toIsoString(this.clock.now() - SENT_RETENTION_MS);
    await this.rows.remove({ state: { in: ['sent', 'failed'] }, created_at: { lt: before } });
  }

  async #runLoop(sender: MailSender): Promise<void> {
    while (this.#again && !this.#stopped) {
      this.#again = false;
      try {
        await this.#sendDue(sender);
      } catch (err) {
        this.log.error({ err }, 'mails could not be sent; the job will retry');
      }
    }
  }

  async #sendDue(sender: MailSender): Promise<void> {
    for (;;) {
      const now = this.clock.now();
      const { items } = await this.rows.find({
        filter: {
          state: 'waiting',
          or: [{ send_at: { lte: toIsoString(now) } }, { send_at: { gt: toIsoString(now + MAX_WAIT_MS) } }],
        },
        sort: [
          ['rank', 'asc'],
          ['id', 'asc'],
        ],
        limit: BATCH_SIZE,
      });
      for (const row of items) {
        if (this.#stopped) return;
        if ((await this.#send(sender, row)) === 'unreachable') return;
      }
      // Urgent mails go first.
      if (items.length < BATCH_SIZE) return;
    }
  }

  async #send(sender: MailSender, row: StoredMail): Promise<'done' | 'unreachable'> {
    const lease = toIsoString(this.clock.now() + MAIL_LEASE_MS);
    const { id, send_at, mail } = row;
    const acquired = await this.rows.change({ id, send_at, state: 'waiting' }, { set: { send_at: lease } });
    if (acquired === null || mail === null) return 'done';
    let error: SendError | null = null;
    try {
      await sender.sendMail({ id, ...this.#open(mail) });
    } catch (thrown) {
      error = thrown instanceof SendError ? thrown : new SendError(String(thrown), false);
    }
    await this.rows.change({ id, send_at: lease }, { set: this.#toOutcome(row, error) });
    return error?.more.server === true ? 'unreachable' : 'done';
  }

  #seal(content: MailContent): string {
    return this.cipher.seal(JSON.stringify(content), SEAL_PURPOSE);
  }

  /** @throws SendError, permanent, when the data key is another one */
  #open(sealed: string): MailContent {
    try {
      return JSON.parse(this.cipher.open(sealed, SEAL_PURPOSE)) as MailContent;
    } catch (error) {
      throw new SendError(`the queued mail cannot be decrypted: ${String(error)}`, true);
    }
  }

  #toOutcome(row: StoredMail, error: SendError | null): Record<string, string | number | null> {
    if (error === null) return { state: 'sent', mail: null };
    const attempts = row.attempts + 1;
    const hasEnded =
      error.permanent && error.more.server !== true
        ? true
        : Date.parse(row.created_at) + MAX_RETRY_DURATION_MS <= this.clock.now();
    // The response may contain the address.
    this.log.warn({ mail: row.id, attempts, ended: hasEnded }, 'mail not delivered');
    if (hasEnded) return { state: 'failed', mail: null, attempts };
    return {
      attempts,
      send_at: toIsoString(this.clock.now() + getNotificationRetryDelay(attempts, error.more.retryAfterMs)),
    };
  }
}
