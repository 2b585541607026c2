/**
 * Sends what is due, channel by channel. One process at a time works on a channel (a lease in its document); the notes
 * of a message are marked before it goes out and again when the receiver has taken it. A process that ends in between
 * leaves them marked, and the next holder of the lease sends the same message again with the same id: nothing is lost,
 * and the receiver can recognize a repeat.
 */
import type { Clock, Collection, Ids, Logger } from '../../../kernel/contract.js';
import { MOST_FAILURES, type Channel, type ChannelKind } from '../channels/channel.js';
import { isoOf, MINUTE_MS } from '../../../lib/time.js';
import { messageOf, type Message } from '../notes/message.js';
import type { StoredNote } from '../notes/stored-note.js';
import { DELAYS, LEASE_MS, SendTimes } from './send-times.js';
import { SendError, type Sender } from './sender.js';

/** An attempt that takes longer has failed. */
const ATTEMPT_MS = 30_000;
/** Notes of one message; what is beyond goes with the next. */
const MOST_NOTES = 200;

export interface Opened {
  target: string;
  secret: string | null;
}

export class Dispatcher {
  readonly #times: SendTimes;
  readonly #woken = new Set<string>();
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(
    private readonly notes: Collection<StoredNote>,
    private readonly channels: Collection<Channel>,
    private readonly senders: Partial<Record<ChannelKind, Sender>>,
    private readonly open: (channel: Channel) => Opened,
    private readonly parts: { clock: Clock; ids: Ids; log: Logger; baseUrl: () => string },
  ) {
    this.#times = new SendTimes(notes, channels, parts.clock);
  }

  /** Something may be due for these channels. */
  wake(channelIds: readonly string[]): void {
    for (const id of channelIds) this.#woken.add(id);
    if (this.#stopped || this.#woken.size === 0) return;
    this.#running ??= this.#work().finally(() => (this.#running = null));
  }

  async #work(): Promise<void> {
    while (this.#woken.size > 0 && !this.#stopped) {
      const ids = [...this.#woken];
      this.#woken.clear();
      await Promise.all(
        ids.map((id) =>
          this.run(id).catch((err: unknown) =>
            this.parts.log.error({ err, channel: id }, 'a channel could not be served'),
          ),
        ),
      );
    }
  }

  /** Ends after the attempts under way. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  /** Every channel that has something due; for the job. */
  async due(): Promise<void> {
    await this.#times.anchor();
    const filter = { state: { in: ['waiting', 'sending'] }, send_at: { lte: this.parts.clock.iso() } };
    const counts = await this.notes.groupCount('channel_id', filter);
    this.wake(counts.map(({ key }) => String(key)));
    await this.#running;
  }

  /** Sends what is due for one channel. Nothing when another process is at it. */
  async run(channelId: string): Promise<void> {
    const channel = await this.#claim(channelId);
    if (channel === null) return;
    const { clock } = this.parts;
    const done: Record<string, string | number | boolean | null> = {};
    try {
      const now = clock.iso();
      const { items } = await this.notes.find({
        filter: { channel_id: channel.id, state: { in: ['waiting', 'sending'] }, send_at: { lte: now } },
        sort: [['id', 'asc']],
        limit: MOST_NOTES,
      });
      const held = channel.next_at !== null && channel.next_at > now;
      // What a crash left is one message again, without what has come since: a repeat is then known by its id.
      const [cut] = items.filter(({ state }) => state === 'sending').map(({ message_id }) => message_id);
      const begun = items.filter((note) => note.state === 'sending' && note.message_id === cut);
      const fresh = held ? items.filter((note) => channel.urgent_at_once && note.severity === 'critical') : items;
      const due = begun.length > 0 ? begun : fresh;
      if (due.length > 0) Object.assign(done, await this.#send(channel, due));
      if (begun.length > 0) this.#woken.add(channel.id);
    } finally {
      await this.channels.change(
        { id: channel.id, lease_by: channel.lease_by },
        { set: { ...done, lease_by: null, lease_until: null } },
      );
    }
  }

  async #claim(id: string): Promise<Channel | null> {
    const { clock, ids } = this.parts;
    const now = clock.now();
    const free = { id, enabled: true, or: [{ lease_until: null }, { lease_until: { lte: isoOf(now) } }] };
    const set = { lease_by: ids.uuid(), lease_until: isoOf(now + LEASE_MS) };
    return (await this.channels.change(free, { set }))?.doc ?? null;
  }

  /** @returns what the channel's document has to say of it */
  async #send(channel: Channel, due: readonly StoredNote[]): Promise<Partial<Channel>> {
    const message = messageOf(due, this.parts.baseUrl());
    const filter = { channel_id: channel.id, id: { in: due.map(({ id }) => id) } };
    await this.notes.changeMany(filter, { set: { state: 'sending', message_id: message.id }, inc: { attempts: 1 } });
    const { clock } = this.parts;
    try {
      await this.deliver(channel, message);
    } catch (error) {
      return this.#failed(channel, due, filter, error);
    }
    const now = clock.iso();
    await this.notes.changeMany(filter, { set: { state: 'sent', sent_at: now, error: null } });
    const next_at = channel.digest_minutes > 0 ? isoOf(clock.now() + channel.digest_minutes * MINUTE_MS) : null;
    return { last_sent_at: now, last_error: null, failure_count: 0, next_at };
  }

  /** One message, now. @throws SendError */
  async deliver(channel: Channel, message: Message): Promise<void> {
    const sender = this.senders[channel.kind];
    if (sender === undefined) throw new SendError('E-mail is not configured: set notifications.smtp_host.', false);
    const { target, secret } = this.open(channel);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new SendError('The receiver took too long.', false)), ATTEMPT_MS);
    });
    await Promise.race([sender.send(message, target, secret), late]).finally(() => clearTimeout(timer));
  }

  async #failed(
    channel: Channel,
    due: readonly StoredNote[],
    filter: Record<string, string | { in: string[] }>,
    error: unknown,
  ): Promise<Partial<Channel>> {
    const { clock, log } = this.parts;
    const text = error instanceof Error ? error.message : String(error);
    const permanent = error instanceof SendError && error.permanent;
    const attempts = Math.max(...due.map((note) => note.attempts)) + 1;
    const delay = DELAYS[attempts - 1];
    const over = permanent || delay === undefined;
    log.warn(
      { channel: channel.id, kind: channel.kind, attempts, permanent, error: text },
      'a notification was not taken',
    );
    const send_at = isoOf(clock.now() + (delay ?? 0) * MINUTE_MS);
    await this.notes.changeMany(filter, {
      set: over ? { state: 'failed', error: text } : { state: 'waiting', error: text, send_at },
    });
    const failure_count = channel.failure_count + 1;
    const broken = failure_count >= MOST_FAILURES;
    return {
      last_error: text,
      failure_count,
      ...(broken && { enabled: false, disabled_reason: `${MOST_FAILURES} failures in a row; the last: ${text}` }),
    };
  }
}
