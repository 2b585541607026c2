/** Digest, quiet hours, recoveries and crashes, with a clock that is moved. */
import { expect } from 'chai';
import { ChannelCache } from '../../../plugins/notifications/channels/channel-cache.js';
import type { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { SendError } from '../../../plugins/notifications/services/sender.js';
import { getRejection } from '../../harness.js';
import { ADMIN, ChannelFixture, MINUTE, sendDue } from './fixture.js';

describe('notifications: sending', () => {
  let f: ChannelFixture;
  let dispatcher: NotificationDispatcher;
  /** A process of its own begins to send and never ends. The id of that message. */
  const cutOff = async (channelId: string): Promise<string> => {
    const begun = new Promise<string>((resolve) => {
      f.receive = (message) => {
        resolve(message.id);
        return new Promise(() => undefined);
      };
    });
    void f.dispatcher().sendDue(channelId);
    const id = await begun;
    f.receive = async () => undefined;
    return id;
  };
  beforeEach(() => {
    f = new ChannelFixture();
    dispatcher = f.dispatcher();
  });

  it('stores an event emitted twice once, and nothing below the minimum severity', async () => {
    const channel = await f.channel({ min_severity: 'high' });
    const grave = f.bug('high');
    expect(await f.queue.enqueueEvent(grave)).to.deep.equal([channel.id]);
    expect(await f.queue.enqueueEvent(grave)).to.deep.equal([]);
    expect(await f.queue.enqueueEvent(f.bug('medium'))).to.deep.equal([]);
    await sendDue(dispatcher);
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-1: Error 1']);
    await sendDue(dispatcher);
    expect(f.sent).to.have.length(1);
  });

  it('applies a changed channel immediately, and within five seconds in other processes', async () => {
    const channel = await f.channel({ min_severity: 'critical' });
    const other = f.queueOf(new ChannelCache(f.channelRows, f.clock));
    for (const queue of [f.queue, other]) expect(await queue.enqueueEvent(f.bug())).to.deep.equal([]);
    await f.channels.change(ADMIN, channel.id, { min_severity: 'low' });
    expect(await f.queue.enqueueEvent(f.bug())).to.deep.equal([channel.id]);
    f.clock.advance(5_000);
    expect(await other.enqueueEvent(f.bug())).to.deep.equal([channel.id]);
  });

  it('sends one message per digest interval, batches the rest, and sends critical ones immediately', async () => {
    await f.channel({ digest_minutes: 10 });
    for (const severity of ['low', 'low', 'medium']) {
      await f.queue.enqueueEvent(f.bug(severity));
      await sendDue(dispatcher);
    }
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1]);
    await f.queue.enqueueEvent(f.bug('critical'));
    await sendDue(dispatcher);
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1, 1]);
    f.clock.advance(10 * MINUTE + 1);
    await sendDue(dispatcher);
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([1, 1, 2]);
  });

  it('sends at the end of quiet hours, and critical ones immediately if configured', async () => {
    await f.channel({ quiet_from: '11:00', quiet_to: '13:30' });
    // The first run of a dispatcher corrects times that lie too far ahead.
    await sendDue(dispatcher);
    await f.queue.enqueueEvent(f.bug('low'));
    await f.queue.enqueueEvent(f.bug('high'));
    await f.queue.enqueueEvent(f.bug('critical'));
    await sendDue(dispatcher);
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-3: Error 3']);
    f.clock.advance(89 * MINUTE);
    await sendDue(dispatcher);
    expect(f.sent).to.have.length(1);
    f.clock.advance(MINUTE);
    await sendDue(dispatcher);
    expect(f.sent[1]?.lines.map(({ title }) => title)).to.deep.equal(['shop-1: Error 1', 'shop-2: Error 2']);
  });

  it('sends a recovery only to channels that received the fault', async () => {
    const one = await f.channel();
    await f.channel({ name: 'other', events: ['bug.created'] });
    await f.queue.enqueueEvent(f.monitor('monitor.down', 'a-1'));
    await sendDue(dispatcher);
    expect(await f.queue.enqueueEvent(f.monitor('monitor.recovered', 'a-1'))).to.deep.equal([one.id]);
    expect(await f.queue.enqueueEvent(f.monitor('monitor.recovered', 'a-2'))).to.deep.equal([]);
    await sendDue(dispatcher);
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['web-1 is down', 'web-1 recovered']);
  });

  it('sends an acknowledgement and the recovery once to channels that received the alarm', async () => {
    const one = await f.channel();
    await f.channel({ name: 'other', events: ['bug.created'] });
    await f.queue.enqueueEvent(f.monitor('monitor.down', 'a-1'));
    await sendDue(dispatcher);
    const timestamp = f.clock.iso();
    const word = { id: 'i-1:mia', timestamp, alarm_id: 'a-1', source: 'web-1', by: 'mia' };
    expect(await f.queue.enqueueAcknowledgement(word)).to.deep.equal([one.id]);
    expect(await f.queue.enqueueAcknowledgement(word), 'told again').to.deep.equal([]);
    expect(
      await f.queue.enqueueAcknowledgement({ ...word, alarm_id: 'a-2' }),
      'an alarm that nobody was sent',
    ).to.deep.equal([]);
    await sendDue(dispatcher);
    await f.queue.enqueueAcknowledgement({ ...word, id: 'i-1:', by: null });
    await sendDue(dispatcher);
    await f.queue.enqueueEvent(f.monitor('monitor.recovered', 'a-1'));
    await sendDue(dispatcher);
    expect(f.sent.map(({ subject }) => subject)).to.deep.equal([
      'web-1 is down',
      'web-1: acknowledged by mia',
      'web-1: unacknowledged',
      'web-1 recovered',
    ]);
  });

  it('resends a message with the same id after the lease of a crashed process', async () => {
    const { id } = await f.channel();
    await f.queue.enqueueEvent(f.bug());
    const first = await cutOff(id);
    await sendDue(dispatcher);
    expect(f.sent).to.have.length(0);
    await f.queue.enqueueEvent(f.bug());
    f.clock.advance(MINUTE);
    await sendDue(dispatcher);
    expect(f.sent.map((message) => message.id)).to.deep.equal([first, f.sent[1]?.id]);
    expect(f.sent.map(({ lines }) => lines.map(({ title }) => title))).to.deep.equal([
      ['shop-1: Error 1'],
      ['shop-2: Error 2'],
    ]);
  });

  describe('serves a channel after the clock was a year ahead', () => {
    const back = async (): Promise<void> => {
      f.clock.set('2026-11-20T13:00:00Z');
      await sendDue(dispatcher);
    };
    beforeEach(() => f.clock.set('2027-11-20T12:30:00Z'));

    it('with a pending digest', async () => {
      await f.channel({ digest_minutes: 10 });
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
      await back();
      await f.queue.enqueueEvent(f.bug());
      f.clock.advance(10 * MINUTE);
      await sendDue(dispatcher);
      expect(f.sent.map(({ subject }) => subject)).to.deep.equal(['shop-1: Error 1', 'shop-2: Error 2']);
    });

    it('with a message to retry', async () => {
      await f.channel();
      f.receive = () => Promise.reject(new SendError('HTTP 503', false));
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
      f.receive = async () => undefined;
      await back();
      expect(f.sent).to.have.length(0);
      f.clock.advance(MINUTE);
      await sendDue(dispatcher);
      expect(f.sent).to.have.length(1);
    });

    it('with notifications received, or held for quiet hours, while it was ahead', async () => {
      await f.channel({ quiet_from: '12:00', quiet_to: '13:30' });
      await f.queue.enqueueEvent(f.bug('critical'));
      await f.queue.enqueueEvent(f.bug());
      await back();
      expect(f.sent).to.have.length(1);
      f.clock.advance(30 * MINUTE);
      await sendDue(dispatcher);
      expect(await f.states()).to.deep.equal(['sent', 'sent']);
    });

    it('with a process killed while sending', async () => {
      const { id } = await f.channel();
      await f.queue.enqueueEvent(f.bug());
      const first = await cutOff(id);
      dispatcher = f.dispatcher();
      await back();
      f.clock.advance(MINUTE);
      await sendDue(dispatcher);
      expect(f.sent.map((message) => message.id)).to.deep.equal([first]);
    });
  });

  it('sends each notification once from several processes', async () => {
    await f.channel();
    for (let i = 0; i < 30; i++) await f.queue.enqueueEvent(f.bug());
    await Promise.all([sendDue(dispatcher), sendDue(f.dispatcher()), sendDue(f.dispatcher())]);
    await sendDue(dispatcher);
    const titles = f.sent.flatMap(({ lines }) => lines.map(({ title }) => title));
    expect(titles).to.have.length(30);
    expect(await f.states()).to.deep.equal(Array(30).fill('sent'));
  });

  it('neither stores nor shows a hook URL in plain text', async () => {
    const channel = await f.channel({ kind: 'slack', target: 'https://hooks.example/T0/SECRET' });
    expect(channel.target).to.match(/^sealed\(/);
    expect(JSON.stringify(f.channels.toView(channel))).to.not.include('SECRET');
    expect(f.audited).to.deep.equal(['channel.created']);
  });

  it('rejects quiet hours without an end', async () => {
    const error = await getRejection(f.channel({ quiet_from: '22:00' }));
    expect(error).to.have.property('fields').with.property('quiet_to');
  });

  it('deletes pending notifications with their channel', async () => {
    const { id } = await f.channel();
    await f.queue.enqueueEvent(f.bug());
    await f.channels.remove(ADMIN, id);
    expect(await Promise.all([f.notes.count(), f.channelRows.count()])).to.deep.equal([0, 0]);
  });
});
