/**
 * Receivers that fail: retries, disabling and return of a channel, single recipients, large
 * digests, lanes.
 */
import { expect } from 'chai';
import type { NotificationDispatcher } from '../../../plugins/notifications/sending/notification-dispatcher.js';
import { SendError } from '../../../plugins/notifications/services/sender.js';
import { ADMIN, ChannelFixture, HOUR, MINUTE, sendDue } from './fixture.js';

const unavailable = (): Promise<never> => Promise.reject(new SendError('HTTP 503', false));
const gone = (): Promise<never> => Promise.reject(new SendError('HTTP 404', true));

describe('notifications: retries', () => {
  let f: ChannelFixture;
  let dispatcher: NotificationDispatcher;
  beforeEach(() => {
    f = new ChannelFixture();
    dispatcher = f.dispatcher();
  });

  /** Lets time pass as the job sees it. */
  const pass = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= MINUTE) {
      f.clock.advance(Math.min(left, MINUTE));
      await sendDue(dispatcher);
    }
  };
  const titles = (): string[] => f.sent.flatMap(({ lines }) => lines.map(({ title }) => title));

  it('retries a temporary failure after 1, 5, 15 and 60 minutes, then hourly for 24 hours', async () => {
    await f.channel();
    const began = f.clock.now();
    const attempts: number[] = [];
    f.receive = () => {
      attempts.push(Math.round((f.clock.now() - began) / MINUTE));
      return unavailable();
    };
    await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    await pass(25 * HOUR);
    expect(attempts.slice(0, 7)).to.deep.equal([0, 1, 6, 21, 81, 141, 201]);
    expect(attempts.at(-1)).to.equal(24 * 60);
  });

  it('does not retry a permanent failure', async () => {
    await f.channel();
    f.receive = gone;
    await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    f.receive = async () => undefined;
    await pass(2 * HOUR);
    expect([f.sent.length, await f.states()]).to.deep.equal([0, ['failed']]);
  });

  it('stays enabled through 200 failed attempts within a minute, and loses nothing (W07)', async () => {
    const { id } = await f.channel();
    f.receive = unavailable;
    for (let i = 0; i < 200; i++) {
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
    }
    expect((await f.find(id)).enabled).to.equal(true);
    f.receive = async () => undefined;
    await pass(2 * MINUTE);
    expect(new Set(titles()).size).to.equal(200);
    expect(await f.find(id)).to.include({ failing_since: null, last_error: null });
  });

  it('stays enabled through 200 rejected notifications within a day', async () => {
    const { id } = await f.channel();
    f.receive = gone;
    for (let i = 0; i < 200; i++) {
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
      f.clock.advance(7 * MINUTE);
    }
    expect(await f.find(id)).to.include({ enabled: true, last_error: 'on-call@example.org: HTTP 404' });
  });

  it('stays enabled when one message succeeded within the day', async () => {
    const { id } = await f.channel();
    f.receive = gone;
    for (let hour = 0; hour < 60; hour++) {
      await f.queue.enqueueEvent(f.bug());
      f.receive = hour % 20 === 19 ? async () => undefined : gone;
      await sendDue(dispatcher);
      f.clock.advance(HOUR);
    }
    expect((await f.find(id)).enabled).to.equal(true);
  });

  it('is disabled after 24 hours without success, then stores messages until it is enabled (W07)', async () => {
    const { id } = await f.channel();
    f.receive = unavailable;
    await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    await pass(25 * HOUR);
    const disabled = await f.find(id);
    expect(disabled.enabled).to.equal(false);
    expect(disabled.disabled_reason).to.match(/24 hours.*HTTP 503/);
    await f.queue.enqueueEvent(f.bug());
    await pass(HOUR);
    f.receive = async () => undefined;
    await pass(HOUR);
    expect(f.sent).to.have.length(0);
    await f.channels.change(ADMIN, id, { enabled: true });
    await sendDue(dispatcher);
    expect(titles()).to.deep.equal(['shop-1: Error 1', 'shop-2: Error 2']);
    expect(await f.find(id)).to.include({ enabled: true, disabled_reason: null, failing_since: null });
  });

  it('stores notifications for a channel disabled by an administrator', async () => {
    const { id } = await f.channel({ enabled: false });
    await f.queue.enqueueEvent(f.bug());
    await pass(HOUR);
    expect(f.sent).to.have.length(0);
    await f.channels.change(ADMIN, id, { enabled: true });
    await sendDue(dispatcher);
    expect(titles()).to.deep.equal(['shop-1: Error 1']);
  });

  for (const [what, events] of [
    ['that asks for it', ['channel.disabled']],
    ['that asks for something else, where none asks for it', ['feature.created']],
  ] as const)
    it(`notifies a channel ${what} when another channel is disabled`, async () => {
      const { id } = await f.channel();
      f.receive = gone;
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
      await pass(24 * HOUR + MINUTE);
      expect((await f.find(id)).enabled).to.equal(true);
      const other = await f.channel({ name: 'admins', kind: 'slack', events: [...events] });
      await f.queue.enqueueEvent(f.bug());
      await sendDue(dispatcher);
      f.receive = async () => undefined;
      await pass(2 * MINUTE);
      expect((await f.find(id)).enabled).to.equal(false);
      expect(f.emitted.map(({ event }) => event)).to.deep.equal(['channel.disabled']);
      expect(titles()).to.include('Alert channel on call disabled');
      expect((await f.notes.find({ filter: { channel_id: other.id } })).items).to.have.length(1);
    });

  it('waits for the time in Retry-After', async () => {
    await f.channel();
    f.receive = () => Promise.reject(new SendError('HTTP 429', false, { retryAfterMs: 10 * MINUTE }));
    await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    f.receive = async () => undefined;
    await pass(9 * MINUTE);
    expect(f.sent).to.have.length(0);
    await pass(MINUTE);
    expect(f.sent).to.have.length(1);
  });

  describe('a single recipient of several', () => {
    const results: Record<string, () => Promise<void>> = {};
    const reached: string[] = [];
    beforeEach(async () => {
      reached.length = 0;
      for (const name of Object.keys(results)) delete results[name];
      f.receive = async (_message, recipient) => {
        await results[recipient]?.();
        reached.push(recipient);
      };
      await f.channel({ target: 'a@example.org, b@example.org, c@example.org' });
      await f.queue.enqueueEvent(f.bug());
    });

    it('is retried alone when deferred, with the same message (W09)', async () => {
      results['b@example.org'] = () => Promise.reject(new SendError('450 greylisted', false));
      await sendDue(dispatcher);
      expect(reached).to.deep.equal(['a@example.org', 'c@example.org']);
      expect(await f.states()).to.deep.equal(['waiting']);
      delete results['b@example.org'];
      await f.queue.enqueueEvent(f.bug());
      await pass(MINUTE);
      expect(reached.filter((one) => one === 'a@example.org')).to.have.length(2);
      expect(f.sent.map(({ id }) => id).filter((id, _, all) => id === all[0])).to.have.length(3);
      expect(await f.states()).to.deep.equal(['sent', 'sent']);
      expect((await f.notes.find()).items[0]).to.include({ error: null, recipients: null });
    });

    it('is shown as rejected while the others received the message (W09)', async () => {
      results['b@example.org'] = () => Promise.reject(new SendError('550 no such user', true));
      await sendDue(dispatcher);
      await pass(2 * HOUR);
      expect(reached).to.deep.equal(['a@example.org', 'c@example.org']);
      const [note] = (await f.notes.find()).items;
      expect(note).to.include({ state: 'sent', error: 'b@example.org: 550 no such user' });
      expect(note && f.outcomes.readRecipients(note)).to.deep.equal([
        { address: 'a@example.org', state: 'sent', error: null },
        { address: 'b@example.org', state: 'failed', error: '550 no such user' },
        { address: 'c@example.org', state: 'sent', error: null },
      ]);
    });

    it('ends the attempt for the remaining recipients on a server error', async () => {
      let requested = 0;
      results['a@example.org'] = () => {
        requested += 1;
        return Promise.reject(new SendError('connection refused', false, { server: true }));
      };
      await sendDue(dispatcher);
      expect([requested, reached]).to.deep.equal([1, []]);
      delete results['a@example.org'];
      await pass(MINUTE);
      expect(reached).to.have.members(['a@example.org', 'b@example.org', 'c@example.org']);
    });
  });

  it('splits a digest by the receiver’s limits (W11)', async () => {
    f.limits = { notes: 10, bytes: 100_000 };
    dispatcher = f.dispatcher();
    await f.channel({ digest_minutes: 1 });
    for (let i = 0; i < 24; i++) await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    expect(f.sent.map(({ lines }) => lines.length)).to.deep.equal([10, 10, 4]);
  });

  it('resends a rejected digest in smaller parts (W11)', async () => {
    await f.channel({ kind: 'slack' });
    f.receive = ({ lines }) =>
      lines.length > 3 ? Promise.reject(new SendError('HTTP 400', true, { content: true })) : Promise.resolve();
    for (let i = 0; i < 17; i++) await f.queue.enqueueEvent(f.bug());
    await sendDue(dispatcher);
    expect(new Set(titles()).size).to.equal(17);
    expect(titles()).to.have.length(17);
    expect(await f.states()).to.deep.equal(Array(17).fill('sent'));
  });

  it('serves other channels while a receiver does not respond (W12)', async () => {
    const slow = await f.channel({ name: 'slow', kind: 'slack' });
    const healthy = await f.channel({ name: 'healthy' });
    let release = (): void => undefined;
    const blocked = new Promise<void>((resolve) => (release = resolve));
    f.receive = (_message, recipient) => (recipient === '' ? blocked : Promise.resolve());
    for (let i = 0; i < 5; i++) {
      dispatcher.wake(await f.queue.enqueueEvent(f.bug()));
      await sent(healthy.id, i + 1);
    }
    expect(await count(slow.id, 'sent')).to.equal(0);
    release();
    await dispatcher.waitUntilIdle();
    await sendDue(dispatcher);
    expect(await count(slow.id, 'sent')).to.equal(5);
  });

  const count = (channel_id: string, state: string): Promise<number> => f.notes.count({ channel_id, state });
  const sent = async (channel: string, n: number): Promise<void> => {
    while ((await count(channel, 'sent')) < n) await new Promise((resolve) => setImmediate(resolve));
  };
});
