/** Digest, quiet hours, recoveries, failures and crashes, with a clock that is moved. */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { Channels } from '../../../plugins/notifications/channels/channels.js';
import type { Channel, ChannelFields } from '../../../plugins/notifications/channels/channel.js';
import type { Message } from '../../../plugins/notifications/notes/message.js';
import type { StoredNote } from '../../../plugins/notifications/notes/stored-note.js';
import { NoteQueue } from '../../../plugins/notifications/sending/queue.js';
import { KnownRules } from '../../../plugins/notifications/rules/known-rules.js';
import type { NotificationRule, NotificationRuleFields } from '../../../plugins/notifications/rules/rule.js';
import { Dispatcher } from '../../../plugins/notifications/sending/dispatcher.js';
import { SendError } from '../../../plugins/notifications/sending/sender.js';
import type { DomainEvent, Principal } from '../../../kernel/contract.js';
import { rejection } from '../../harness.js';
import { ManualClock } from '../../../testing/clock.js';
import { fakeCipher, FakeIds, fakeOutbound, RecordingLog } from '../../../testing/fakes.js';

const ADMIN = { kind: 'session', username: 'admin', role: 'admin', session_id: 's' } as unknown as Principal;
const MINUTE = 60_000;

class Fixture {
  readonly clock = new ManualClock(Date.parse('2026-11-20T12:00:00Z'));
  readonly ids = new FakeIds();
  readonly sent: Message[] = [];
  /** What the receiver does. */
  receive: (message: Message) => Promise<void> = async () => undefined;
  readonly #store = new MemoryStore();
  readonly channelRows = this.#store.collection<Channel>('channels');
  readonly notes = this.#store.collection<StoredNote>('notes');
  readonly rules = this.#store.collection<NotificationRule>('rules');
  readonly known = new KnownRules(this.rules, this.clock);
  readonly audited: string[] = [];
  readonly channels = new Channels({
    channels: this.channelRows,
    rules: this.rules,
    known: this.known,
    notes: this.notes,
    clock: this.clock,
    ids: this.ids,
    cipher: fakeCipher,
    outbound: fakeOutbound,
    audit: {
      record: async (_who, action) => void this.audited.push(action),
      recent: async () => ({ items: [], next: null }),
      of: async () => ({ items: [], next: null }),
    },
    policy: { mode: 'private-ok', allow: [] },
    kinds: ['slack', 'email'],
  });
  readonly queue = new NoteQueue(this.notes, this.channelRows, this.known, this.clock);
  #n = 0;

  dispatcher(): Dispatcher {
    const sender = {
      send: async (message: Message): Promise<void> => {
        await this.receive(message);
        this.sent.push(message);
      },
    };
    const { clock, ids } = this;
    const parts = { clock, ids, log: new RecordingLog(), baseUrl: () => 'https://aos.example' };
    return new Dispatcher(
      this.notes,
      this.channelRows,
      { slack: sender, email: sender },
      (channel) => this.channels.open(channel),
      parts,
    );
  }

  async channel(more: Partial<ChannelFields> = {}, rule: Partial<NotificationRuleFields> = {}): Promise<Channel> {
    const fields: ChannelFields = {
      name: 'on call',
      kind: 'email',
      target: 'on-call@example.org',
      secret: null,
      quiet_from: null,
      quiet_to: null,
      timezone: 'UTC',
      urgent_at_once: true,
      digest_minutes: 0,
      enabled: true,
      ...more,
    };
    const channel = await this.channels.create(ADMIN, fields, 'admin');
    await this.channels.addRule(ADMIN, channel.id, {
      project: null,
      topics: ['bug.created', 'monitor.down'],
      least_severity: 'low',
      ...rule,
    });
    return channel;
  }

  bug(severity = 'medium'): DomainEvent {
    const ref = `shop-${++this.#n}`;
    const data = {
      id: ref,
      ref,
      type: 'error',
      title: `Error ${this.#n}`,
      severity,
      item_status: 'open',
      client_ref: null,
      regression: false,
    };
    return {
      id: `evt_${String(this.#n).padStart(4, '0')}`,
      event: 'bug.created',
      timestamp: this.clock.iso(),
      project_slug: 'shop',
      data,
    };
  }

  monitor(event: 'monitor.down' | 'monitor.recovered', alarm_id: string): DomainEvent {
    const data = {
      source: 'web-1',
      state: 'down',
      previous_state: 'up',
      alarm_id,
      deferred: false,
      resolution: null,
      down_since_utc: null,
    };
    return { id: `evt_m${++this.#n}`, event, timestamp: this.clock.iso(), project_slug: null, data };
  }

  async states(): Promise<string[]> {
    return (await this.notes.find({ sort: [['id', 'asc']] })).items.map((note) => note.state);
  }
}

describe('notifications: sending', () => {
  let f: Fixture;
  let dispatcher: Dispatcher;
  /** A process of its own begins to send and never ends. The id of that message. */
  const cutOff = async (channelId: string): Promise<string> => {
    const begun = new Promise<string>((resolve) => {
      f.receive = (message) => {
        resolve(message.id);
        return new Promise(() => undefined);
      };
    });
    void f.dispatcher().run(channelId);
    const id = await begun;
    f.receive = async () => undefined;
    return id;
  };
  beforeEach(() => {
    f = new Fixture();
    dispatcher = f.dispatcher();
  });

  it('an event that is told twice is one note; a rule that does not fit makes none', async () => {
    const channel = await f.channel({}, { least_severity: 'high' });
    const grave = f.bug('high');
    expect(await f.queue.take(grave)).to.deep.equal([channel.id]);
    expect(await f.queue.take(grave)).to.deep.equal([]);
    expect(await f.queue.take(f.bug('medium'))).to.deep.equal([]);
    await dispatcher.due();
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-1: Error 1']);
    await dispatcher.due();
    expect(f.sent).to.have.length(1);
  });

  it('a rule counts at once where it was made, and in another process within five seconds', async () => {
    const channel = await f.channel({}, { least_severity: 'critical' });
    const other = new NoteQueue(f.notes, f.channelRows, new KnownRules(f.rules, f.clock), f.clock);
    for (const queue of [f.queue, other]) expect(await queue.take(f.bug())).to.deep.equal([]);
    const rule = { project: null, topics: ['bug.created' as const], least_severity: 'low' as const };
    await f.channels.addRule(ADMIN, channel.id, rule);
    expect(await f.queue.take(f.bug())).to.deep.equal([channel.id]);
    f.clock.advance(5_000);
    expect(await other.take(f.bug())).to.deep.equal([channel.id]);
  });

  it('a digest: one message in ten minutes, the rest summed up; a critical one does not wait', async () => {
    await f.channel({ digest_minutes: 10 });
    for (const severity of ['low', 'low', 'medium']) {
      await f.queue.take(f.bug(severity));
      await dispatcher.due();
    }
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1]);
    await f.queue.take(f.bug('critical'));
    await dispatcher.due();
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1, 1]);
    f.clock.advance(10 * MINUTE + 1);
    await dispatcher.due();
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1, 1, 2]);
  });

  it('quiet hours: sent at their end, all together; a critical one at once where that is asked for', async () => {
    await f.channel({ quiet_from: '11:00', quiet_to: '13:30' });
    await f.queue.take(f.bug('low'));
    await f.queue.take(f.bug('high'));
    await f.queue.take(f.bug('critical'));
    await dispatcher.due();
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-3: Error 3']);
    f.clock.advance(89 * MINUTE);
    await dispatcher.due();
    expect(f.sent).to.have.length(1);
    f.clock.advance(MINUTE);
    await dispatcher.due();
    expect(f.sent[1]?.lines.map(({ title }) => title)).to.deep.equal(['shop-1: Error 1', 'shop-2: Error 2']);
  });

  it('a recovery goes to those who were sent the fault, and to nobody else', async () => {
    const one = await f.channel();
    await f.channel({ name: 'other' }, { topics: ['bug.created'] });
    await f.queue.take(f.monitor('monitor.down', 'a-1'));
    await dispatcher.due();
    expect(await f.queue.take(f.monitor('monitor.recovered', 'a-1'))).to.deep.equal([one.id]);
    expect(await f.queue.take(f.monitor('monitor.recovered', 'a-2'))).to.deep.equal([]);
    await dispatcher.due();
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['web-1 is down', 'web-1 has recovered']);
  });

  it('who was sent an alarm hears who is on it, once, and its end still comes', async () => {
    const one = await f.channel();
    await f.channel({ name: 'other' }, { topics: ['bug.created'] });
    await f.queue.take(f.monitor('monitor.down', 'a-1'));
    await dispatcher.due();
    const timestamp = f.clock.iso();
    const word = { id: 'i-1:mia', timestamp, alarm_id: 'a-1', source: 'web-1', by: 'mia' };
    expect(await f.queue.said(word)).to.deep.equal([one.id]);
    expect(await f.queue.said(word), 'told again').to.deep.equal([]);
    expect(await f.queue.said({ ...word, alarm_id: 'a-2' }), 'an alarm that nobody was sent').to.deep.equal([]);
    await dispatcher.due();
    await f.queue.said({ ...word, id: 'i-1:', by: null });
    await dispatcher.due();
    await f.queue.take(f.monitor('monitor.recovered', 'a-1'));
    await dispatcher.due();
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal([
      'web-1 is down',
      'web-1: acknowledged by mia',
      'web-1: nobody is on it any more',
      'web-1 has recovered',
    ]);
  });

  it('a transient failure is tried again later, a permanent one is not; 20 in a row switch the channel off', async () => {
    const { id } = await f.channel();
    f.receive = () => Promise.reject(new SendError('HTTP 503', false));
    await f.queue.take(f.bug());
    await dispatcher.due();
    expect(await f.states()).to.deep.equal(['waiting']);
    f.receive = async () => undefined;
    await dispatcher.due();
    expect(f.sent).to.have.length(0);
    f.clock.advance(MINUTE);
    await dispatcher.due();
    expect([f.sent.length, await f.states()]).to.deep.equal([1, ['sent']]);
    expect((await f.channels.need(id)).failure_count).to.equal(0);

    f.receive = () => Promise.reject(new SendError('HTTP 404', true));
    for (let i = 0; i < 20; i++) {
      await f.queue.take(f.bug());
      await dispatcher.due();
    }
    const broken = await f.channels.need(id);
    expect([broken.enabled, broken.failure_count]).to.deep.equal([false, 20]);
    expect(broken.disabled_reason).to.include('HTTP 404');
    expect((await f.states()).filter((state) => state === 'failed')).to.have.length(20);
  });

  it('a process that ends while it sends: the next one sends the same message with the same id, after the lease', async () => {
    const { id } = await f.channel();
    await f.queue.take(f.bug());
    const first = await cutOff(id);
    await dispatcher.due();
    expect(f.sent).to.have.length(0);
    await f.queue.take(f.bug());
    f.clock.advance(MINUTE);
    await dispatcher.due();
    expect(f.sent.map((message) => message.id)).to.deep.equal([first, f.sent[1]?.id]);
    expect(f.sent.map(({ lines }) => lines.map(({ title }) => title))).to.deep.equal([
      ['shop-1: Error 1'],
      ['shop-2: Error 2'],
    ]);
  });

  describe('a clock that was a year ahead and is put back silences no channel', () => {
    const back = async (): Promise<void> => {
      f.clock.set('2026-11-20T13:00:00Z');
      await dispatcher.due();
    };
    beforeEach(() => f.clock.set('2027-11-20T12:30:00Z'));

    it('which waits for its digest', async () => {
      await f.channel({ digest_minutes: 10 });
      await f.queue.take(f.bug());
      await dispatcher.due();
      await back();
      await f.queue.take(f.bug());
      f.clock.advance(10 * MINUTE);
      await dispatcher.due();
      expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-1: Error 1', 'shop-2: Error 2']);
    });

    it('whose message is to be tried again', async () => {
      await f.channel();
      f.receive = () => Promise.reject(new SendError('HTTP 503', false));
      await f.queue.take(f.bug());
      await dispatcher.due();
      f.receive = async () => undefined;
      await back();
      expect(f.sent).to.have.length(0);
      f.clock.advance(MINUTE);
      await dispatcher.due();
      expect(f.sent).to.have.length(1);
    });

    it('whose notes came, or waited for the end of quiet hours, while it was ahead', async () => {
      await f.channel({ quiet_from: '12:00', quiet_to: '13:30' });
      await f.queue.take(f.bug('critical'));
      await f.queue.take(f.bug());
      await back();
      expect(f.sent).to.have.length(1);
      f.clock.advance(30 * MINUTE);
      await dispatcher.due();
      expect(await f.states()).to.deep.equal(['sent', 'sent']);
    });

    it('whose process was killed while it sent', async () => {
      const { id } = await f.channel();
      await f.queue.take(f.bug());
      const first = await cutOff(id);
      dispatcher = f.dispatcher();
      await back();
      f.clock.advance(MINUTE);
      await dispatcher.due();
      expect(f.sent.map((message) => message.id)).to.deep.equal([first]);
    });
  });

  it('two processes at once send each note once', async () => {
    await f.channel();
    for (let i = 0; i < 30; i++) await f.queue.take(f.bug());
    await Promise.all([dispatcher.due(), f.dispatcher().due(), f.dispatcher().due()]);
    await dispatcher.due();
    const titles = f.sent.flatMap(({ lines, more }) => [
      ...lines.map(({ title }) => title),
      ...Array<string>(more).fill('more'),
    ]);
    expect(titles).to.have.length(30);
    expect(await f.states()).to.deep.equal(Array(30).fill('sent'));
  });

  it('what is stored and shown of a hook is not its address', async () => {
    const channel = await f.channel({ kind: 'slack', target: 'https://hooks.example/T0/SECRET' });
    expect(channel.target).to.match(/^sealed\(/);
    expect(JSON.stringify(f.channels.view(channel))).to.not.include('SECRET');
    expect(f.audited).to.deep.equal(['channel.created', 'channel.rule_added']);
  });

  it('half a night is no quiet', async () => {
    const error = await rejection(f.channel({ quiet_from: '22:00' }));
    expect(error).to.have.property('fields').with.property('quiet_to');
  });

  it('deleting a channel takes its rules and what waits along', async () => {
    const { id } = await f.channel();
    await f.queue.take(f.bug());
    await f.channels.remove(ADMIN, id);
    expect(await Promise.all([f.rules.count(), f.notes.count(), f.channelRows.count()])).to.deep.equal([0, 0, 0]);
  });
});
