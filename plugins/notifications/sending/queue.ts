/**
 * What waits to be sent: one row per note and channel, stored before the event's producer forgets the event, unique by
 * both, so that an event that is emitted again adds nothing.
 */
import type { Clock, Collection, DomainEvent } from '../../../kernel/contract.js';
import type { Channel } from '../channels/channel.js';
import { quietUntil } from '../channels/quiet.js';
import { all } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import type { KnownRules } from '../rules/known-rules.js';
import { ruleMatches } from '../rules/rule.js';
import type { AlarmWord } from '../../../ports/domain/alarms/receivers.js';
import { noteOf, noteOfWord, type Note } from '../notes/note.js';
import type { StoredNote } from '../notes/stored-note.js';

type Happened = Pick<DomainEvent, 'id' | 'event' | 'timestamp'>;

export class NoteQueue {
  constructor(
    private readonly notes: Collection<StoredNote>,
    private readonly channels: Collection<Channel>,
    private readonly rules: KnownRules,
    private readonly clock: Clock,
  ) {}

  /** Resolves when every note of the event is stored. Answers the channels that have something new. */
  async take(event: DomainEvent): Promise<string[]> {
    const note = noteOf(event);
    if (note === null) return [];
    const wanted = note.topic === null ? await this.#sentBefore(note) : await this.#matching(note, event.project_slug);
    return this.#store(event, note, wanted);
  }

  /** As `take`, for what people say of an alarm. */
  async said(word: AlarmWord): Promise<string[]> {
    const note = noteOfWord(word);
    return this.#store({ ...word, event: 'monitor.acknowledged' }, note, await this.#sentBefore(note));
  }

  async #store(event: Happened, note: Note, wanted: ReadonlySet<string>): Promise<string[]> {
    const channels = await Promise.all([...wanted].map((id) => this.channels.get(id)));
    const open = channels.filter((channel): channel is Channel => channel?.enabled === true);
    const results = await this.notes.bulk(open.map((channel) => ({ insert: this.#row(channel, event, note) })));
    return open.filter((_, i) => 'n' in (results[i] ?? {})).map(({ id }) => id);
  }

  /** Those that were sent the beginning, or have it waiting. */
  async #sentBefore({ fault }: Note): Promise<Set<string>> {
    if (fault === null) return new Set();
    const filter = { fault, end: false, state: { in: ['waiting', 'sending', 'sent'] } };
    return new Set((await all(this.notes, { filter, limit: 200 })).map((note) => note.channel_id));
  }

  async #matching(note: Note, project: string | null): Promise<Set<string>> {
    const rules = await this.rules.all();
    return new Set(rules.filter((rule) => ruleMatches(rule, note, project)).map((rule) => rule.channel_id));
  }

  #row(channel: Channel, event: Happened, note: Note): StoredNote {
    const now = this.clock.now();
    const urgent = note.severity === 'critical' && channel.urgent_at_once;
    return {
      id: `${event.id}:${channel.id}`,
      channel_id: channel.id,
      event: event.event,
      severity: note.severity,
      title: note.title,
      text: note.text,
      url: note.path,
      at: event.timestamp,
      fault: note.fault,
      end: note.topic === null,
      state: 'waiting',
      attempts: 0,
      send_at: isoOf(urgent ? now : quietUntil(now, channel.quiet)),
      message_id: null,
      error: null,
      sent_at: null,
    };
  }
}
