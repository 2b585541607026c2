/**
 * Several processes on one store, crashes and clocks that differ (contract 70, delivery; issue of
 * the 30 seconds).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { createDelivery } from '../../../../plugins/webhooks/model/delivery.js';
import { toStoredEvent } from '../../../../plugins/webhooks/model/stored-event.js';
import { STALE_MARKER_MS } from '../../../../plugins/webhooks/deliveries/event-fanout.js';
import { DELIVERY_LEASE_MS } from '../../../../plugins/webhooks/deliveries/delivery-leases.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { waitUntil } from '../../../harness.js';
import { Receiver, status } from '../receiver.js';
import { ADMIN, ensureCollections, MovedClock, STORES, fixtureOn, type Fixture } from '../fixture.js';

/** Twenty of each process. */
const EVENTS = 60;

describe('webhooks: processes and crashes', function () {
  let store: DocumentStore;
  let close = (): Promise<void> => Promise.resolve();
  let to: Receiver;
  const fixtures: Fixture[] = [];
  const process = (ahead = 0): Fixture => {
    const fixture = fixtureOn(store, { clock: new MovedClock(ahead) });
    fixtures.push(fixture);
    return fixture;
  };

  beforeEach(async () => {
    store = await ensureCollections(new MemoryStore());
    to = await Receiver.open();
  });
  afterEach(async () => {
    for (const fixture of fixtures.splice(0)) {
      await fixture.close();
    }
    await to.close();
    await close();
    close = () => Promise.resolve();
  });

  const skews = { 'equal clocks': 0, 'a clock an hour ahead': 3_600_000, 'a clock an hour behind': -3_600_000 };
  const cases = STORES.flatMap((engine) => Object.entries(skews).map(([what, ahead]) => ({ engine, what, ahead })));
  for (const { engine, what, ahead } of cases) {
    it(`three processes deliver each event once on ${engine.name}: ${what}`, async function () {
      const opened = await engine.open(() => this.skip());
      close = opened.close;
      store = opened.store;
      const all = [process(), process(ahead), process()];
      to.answer = ({ response }) => setTimeout(() => response.writeHead(204).end(), 3);
      const hook = await all[0]!.hook(to.url);
      await Promise.all(Array.from({ length: EVENTS }, (_, i) => all[i % 3]!.emit()));
      const success = (): Promise<number> => all[0]!.deps.deliveries.count({ state: 'success' });
      await waitUntil('all delivered', async () => (await success()) === EVENTS);
      for (const fixture of all) await fixture.turn();
      const ids = to.got.map(({ headers }) => headers['x-svc-delivery']);
      expect(ids).to.have.length(EVENTS);
      expect(new Set(ids).size).to.equal(EVENTS);
      expect((await all[0]!.deliveries(hook.id)).every(({ made }) => made === 1)).to.equal(true);
    });
  }

  it('retries an attempt interrupted by a crash within 30 s, for any clocks', async () => {
    expect(DELIVERY_LEASE_MS).to.be.lessThan(28_000);
    const fixture = process(-3_600_000);
    const hook = await fixture.hook(to.url);
    const event = toStoredEvent(
      { id: 'evt_1', event: 'bug.created', timestamp: fixture.clock.iso(), project_slug: null, data: {} },
      fixture.clock.iso(),
      'gone',
      [],
    );
    await fixture.deps.events.insert(event);
    // What `kill -9` leaves: under the lease of a process that is gone.
    await fixture.deps.deliveries.insert({
      ...createDelivery(hook.id, event, '2026-11-20T08:15:30.123Z'),
      next_at: undefined,
      lease_by: 'gone',
    });
    await fixture.turn();
    fixture.clock.advance(DELIVERY_LEASE_MS - 1_500);
    await fixture.turn();
    expect(to.got, 'the other process may still be alive').to.have.length(0);
    fixture.clock.advance(1_600);
    await fixture.turn();
    expect(to.got).to.have.length(1);
    expect((await fixture.deliveries())[0]).to.include({ state: 'success', made: 1 });
  });

  it('ignores the result of an attempt whose lease was taken over', async () => {
    const slow = process();
    let finish = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 1) finish = () => response.writeHead(500).end();
      else response.writeHead(204).end();
    };
    await slow.hook(to.url);
    await slow.emit();
    await waitUntil('the attempt', () => to.got.length === 1);
    const other = process();
    await other.turn();
    other.clock.advance(DELIVERY_LEASE_MS + 100);
    await other.turn();
    expect(to.got).to.have.length(2);
    finish();
    await slow.workers.waitUntilIdle();
    expect((await slow.deliveries())[0]).to.include({ state: 'success', made: 1, counted: false });
    expect(slow.log_lines.messages('warn')).to.deep.equal(['an attempt ended after its lease']);
  });

  const left = (fixture: Fixture, to: string[], by = 'gone') =>
    toStoredEvent(
      { id: 'evt_1', event: 'bug.created', timestamp: fixture.clock.iso(), project_slug: null, data: {} },
      fixture.clock.iso(),
      by,
      to,
    );

  for (const [what, ahead] of Object.entries(skews)) {
    it(`creates deliveries after a crash for the webhooks of that time: ${what}`, async () => {
      const fixture = process(ahead);
      const before = await fixture.hook(to.url);
      await fixture.emit({ id: 'evt_done' });
      await waitUntil('the marker gone', async () => (await fixture.deps.events.count({ fan_at: { gt: '' } })) === 0);
      await fixture.deps.events.insert(left(fixtures[0]!, [before.id, 'deleted meanwhile']));
      await fixture.hook(to.url);
      await fixture.turn();
      fixture.clock.advance(STALE_MARKER_MS - 2_000);
      await fixture.turn();
      expect(to.got, 'perhaps at work in another process').to.have.length(1);
      fixture.clock.advance(2_100);
      await fixture.turn();
      await fixture.turn();
      expect(to.got).to.have.length(2);
      expect((await fixture.deliveries()).map((d) => [d.webhook_id, d.event_id, d.state])).to.have.deep.members([
        [before.id, 'evt_done', 'success'],
        [before.id, 'evt_1', 'success'],
      ]);
      await fixture.fanout.waitUntilIdle();
      expect(await fixture.deps.events.count({ fan_at: { gt: '' } })).to.equal(0);
    });
  }

  it('repeats no finished delivery after a crash in the middle of an event', async () => {
    const fixture = process();
    const hooks = [await fixture.hook(to.url), await fixture.hook(to.url)];
    const event = left(
      fixture,
      hooks.map(({ id }) => id),
    );
    await fixture.deps.events.insert(event);
    const delivered = createDelivery(hooks[0]!.id, event, fixture.clock.iso());
    delete delivered.next_at;
    await fixture.deps.deliveries.insert({ ...delivered, state: 'success', made: 1 });
    await fixture.turn();
    fixture.clock.advance(STALE_MARKER_MS);
    await fixture.turn();
    expect(to.got.map(({ headers }) => headers['x-svc-delivery'])).to.deep.equal([
      createDelivery(hooks[1]!.id, event, '').id,
    ]);
  });

  it('takes over all pending events of a crashed process immediately', async () => {
    const fixture = process();
    const hook = await fixture.hook(to.url);
    const event = left(fixture, [hook.id]);
    await fixture.deps.events.bulk(
      Array.from({ length: 450 }, (_, i) => ({ insert: { ...event, id: `evt_${i}`, fan_by: `gone ${i % 7}` } })),
    );
    await fixture.turn();
    fixture.clock.advance(STALE_MARKER_MS);
    await fixture.turn();
    await waitUntil('all delivered', async () => (await fixture.deps.deliveries.count({ state: 'success' })) === 450);
    expect(to.got).to.have.length(450);
    await fixture.fanout.waitUntilIdle();
    expect(await fixture.deps.events.count({ fan_at: { gt: '' } })).to.equal(0);
  });

  it('retries a delivery when the lease of its failed worker expires', async () => {
    const fixture = process();
    await fixture.hook(to.url);
    const { outbound } = fixture.deps;
    fixture.deps.outbound = {
      checkUrl: (url, policy) => outbound.checkUrl(url, policy),
      request: () => {
        fixture.deps.outbound = outbound;
        return Promise.reject(new Error('a fault of our own'));
      },
    };
    await fixture.poller.stop();
    await fixture.emit();
    await fixture.workers.waitUntilIdle();
    expect(to.got).to.have.length(0);
    await fixture.turn();
    fixture.clock.advance(DELIVERY_LEASE_MS);
    await fixture.turn();
    expect(to.got).to.have.length(1);
    await fixture.fanout.waitUntilIdle();
    expect(await fixture.deps.events.count({ fan_at: { gt: '' } })).to.equal(0);
  });

  it('assigns a pending event to only one of two processes', async () => {
    const [one, two] = [process(), process()];
    const hook = await one.hook(to.url);
    await one.deps.events.insert(left(one, [hook.id]));
    for (const fixture of [one, two]) await fixture.turn();
    for (const fixture of [one, two]) fixture.clock.advance(STALE_MARKER_MS);
    await Promise.all([one.turn(), two.turn()]);
    await waitUntil('the delivery', () => to.got.length > 0);
    for (const fixture of [one, two]) await fixture.turn();
    expect(to.got).to.have.length(1);
  });

  it('creates no deliveries for a stored event that the outbox repeats', async () => {
    const fixture = process();
    const hook = await fixture.hook(to.url);
    await fixture.deps.events.insert(left(fixture, [hook.id]));
    await fixture.emit({ id: 'evt_1' });
    await fixture.workers.waitUntilIdle();
    expect(to.got, 'its marker leads to it').to.have.length(0);
    await fixture.turn();
    fixture.clock.advance(STALE_MARKER_MS);
    await fixture.turn();
    expect(to.got).to.have.length(1);
  });

  it('shows an attempt in progress in the log, with the pending deliveries behind it', async () => {
    const fixture = process();
    let finish = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 1) finish = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    };
    const hook = await fixture.hook(to.url);
    await fixture.emit();
    await waitUntil('the attempt', () => to.got.length === 1);
    await fixture.emit();
    const [first] = await fixture.deliveries(hook.id);
    expect(first).to.include({ state: 'pending', made: 0, lease_by: fixture.queue.instanceId });
    expect(await fixture.log.countQueued()).to.equal(2);
    await waitUntil('no marker', async () => (await fixture.deps.events.count({ fan_at: { gt: '' } })) === 0);
    finish();
    await waitUntil('both', async () => (await fixture.deps.deliveries.count({ state: 'success' })) === 2);
    expect(to.got).to.have.length(2);
  });

  it('holds pending deliveries when their webhook is disabled', async () => {
    const fixture = process();
    let finish = (): void => undefined;
    to.answer = ({ response }) => (finish = () => response.writeHead(204).end());
    const hook = await fixture.hook(to.url);
    await Promise.all(Array.from({ length: 3 }, () => fixture.emit()));
    await waitUntil('the attempt', () => to.got.length === 1);
    await fixture.registry.disable(ADMIN, hook.id);
    finish();
    await fixture.workers.waitUntilIdle();
    const states = (await fixture.deliveries()).map(({ state }) => state);
    expect(states).to.have.members(['success', 'held', 'held']);
    expect(to.got).to.have.length(1);
  });

  it('creates no deliveries for later webhooks when an event is repeated long after', async () => {
    const fixture = process();
    const event = { id: 'evt_1', timestamp: fixture.clock.iso() };
    await fixture.emit(event);
    await fixture.hook(to.url);
    fixture.clock.advance(12_000);
    await fixture.emit(event);
    await fixture.turn();
    expect(to.got).to.have.length(0);
  });

  it('leaves the event with its producer when the store fails', async () => {
    const fixture = process();
    await fixture.hook(to.url);
    const real = fixture.deps.events.insert.bind(fixture.deps.events);
    fixture.deps.events.insert = () => Promise.reject(new Error('the disk is full'));
    const failed = await fixture.emit({ id: 'evt_1' }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    fixture.deps.events.insert = real;
    await fixture.emit({ id: 'evt_1' });
    await fixture.workers.waitUntilIdle();
    expect(to.got).to.have.length(1);
  });

  it('repeats a delivery whose result cannot be stored', async () => {
    const fixture = process();
    await fixture.hook(to.url);
    const real = fixture.deps.deliveries.bulk.bind(fixture.deps.deliveries);
    fixture.deps.deliveries.bulk = (ops) =>
      ops.some((op) => 'change' in op && op.update.push !== undefined)
        ? Promise.reject(new Error('the disk is full'))
        : real(ops);
    await fixture.emit({ id: 'evt_1' });
    await fixture.workers.waitUntilIdle();
    expect(to.got).to.have.length(1);
    expect((await fixture.deliveries())[0]).to.include({ state: 'pending', made: 0 });
    fixture.deps.deliveries.bulk = real;
    await fixture.turn();
    fixture.clock.advance(DELIVERY_LEASE_MS);
    await fixture.turn();
    expect(to.got).to.have.length(2);
    expect((await fixture.deliveries())[0]).to.include({ state: 'success', made: 1 });
  });

  it('does not delay a receiver because of ten others that never respond', async () => {
    const fixture = process();
    const never = await Receiver.open(() => undefined);
    const delivered = async (): Promise<void> => {
      for (let i = 0; i < 30; i++) {
        const n = to.got.length;
        await fixture.emit();
        await waitUntil('the delivery', () => to.got.length === n + 1);
        await waitUntil(
          'the worker rests',
          async () => (await fixture.deps.deliveries.count({ state: 'success' })) === n + 1,
        );
      }
    };
    try {
      await fixture.hook(to.url);
      for (let i = 0; i < 10; i++) await fixture.hook(never.url);
      // A shared worker would wait for the 15 s of another's attempt: longer than this waits for
      // one delivery.
      await delivered();
      expect(never.got.length, 'each of the ten holds its own worker').to.equal(10);
    } finally {
      await never.close();
    }
  });

  it('releases deliveries that were not started when it stops', async () => {
    const fixture = process();
    let release = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 3) release = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    };
    await fixture.hook(to.url);
    await Promise.all(Array.from({ length: 10 }, () => fixture.emit()));
    await waitUntil('the third', () => to.got.length === 3);
    const stopping = fixture.workers.stop();
    release();
    await stopping;
    expect(await fixture.deps.deliveries.count({ lease_by: { gt: '' } })).to.equal(0);
    expect(to.got).to.have.length(3);
    to.answer = status(204);
    await process().turn();
    expect(to.got).to.have.length(10);
  });
});
