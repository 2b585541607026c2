/** Several processes on one store, crashes and clocks that differ (contract 70, delivery; issue of the 30 seconds). */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { newDelivery } from '../../../plugins/webhooks/delivery.js';
import { storedEvent } from '../../../plugins/webhooks/event.js';
import { LEASE_MS } from '../../../plugins/webhooks/leases.js';
import type { DocumentStore } from '../../../ports/store.js';
import { until } from '../../harness.js';
import { Receiver, status } from './receiver.js';
import { ensured, MovedClock, STORES, worldOn, type World } from './world.js';

describe('webhooks: processes and crashes', function () {
  this.timeout(60_000);
  let store: DocumentStore;
  let close = (): Promise<void> => Promise.resolve();
  let to: Receiver;
  const worlds: World[] = [];
  const process = (ahead = 0): World => {
    const world = worldOn(store, { clock: new MovedClock(ahead) });
    worlds.push(world);
    return world;
  };

  beforeEach(async () => {
    store = await ensured(new MemoryStore());
    to = await Receiver.open();
  });
  afterEach(async () => {
    for (const world of worlds.splice(0)) {
      await world.lanes.stop();
      await world.fanout.settled();
    }
    await to.close();
    await close();
    close = () => Promise.resolve();
  });

  const skews = { 'equal clocks': 0, 'a clock an hour ahead': 3_600_000, 'a clock an hour behind': -3_600_000 };
  const cases = STORES.flatMap((engine) => Object.entries(skews).map(([what, ahead]) => ({ engine, what, ahead })));
  for (const { engine, what, ahead } of cases) {
    it(`three processes deliver each event once on ${engine.name}: ${what}`, async function () {
      const opened = await engine.open();
      if (opened === null) this.skip();
      close = opened.close;
      store = opened.store;
      const all = [process(), process(ahead), process()];
      to.answer = ({ response }) => setTimeout(() => response.writeHead(204).end(), 3);
      const hook = await all[0]!.hook(to.url);
      await Promise.all(Array.from({ length: 150 }, (_, i) => all[i % 3]!.emit()));
      const success = (): Promise<number> => all[0]!.deps.deliveries.count({ state: 'success' });
      await until('all delivered', async () => (await success()) === 150, 20_000);
      for (const world of all) await world.turn();
      const ids = to.got.map(({ headers }) => headers['x-svc-delivery']);
      expect(ids).to.have.length(150);
      expect(new Set(ids).size).to.equal(150);
      expect((await all[0]!.deliveries(hook.id)).every(({ made }) => made === 1)).to.equal(true);
    });
  }

  it('an attempt that a crash cut off is repeated within 30 s, whatever the clocks say', async () => {
    expect(LEASE_MS).to.be.lessThan(28_000);
    const world = process(-3_600_000);
    const hook = await world.hook(to.url);
    const event = storedEvent(
      { id: 'evt_1', event: 'bug.created', timestamp: world.clock.iso(), project_slug: null, data: {} },
      world.clock.iso(),
      false,
    );
    await world.deps.events.insert(event);
    // What `kill -9` leaves: under the lease of a process that is gone.
    await world.deps.deliveries.insert(newDelivery(hook.id, event, '2026-11-20T08:15:30.123Z', 'gone'));
    await world.turn();
    world.clock.advance(LEASE_MS - 1_500);
    await world.turn();
    expect(to.got, 'the other process may still be alive').to.have.length(0);
    world.clock.advance(1_600);
    await world.turn();
    expect(to.got).to.have.length(1);
    expect((await world.deliveries())[0]).to.include({ state: 'success', made: 1 });
  });

  it('an attempt that ends after its lease was taken changes nothing', async () => {
    const slow = process();
    let finish = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 1) finish = () => response.writeHead(500).end();
      else response.writeHead(204).end();
    };
    await slow.hook(to.url);
    await slow.emit();
    await until('the attempt', () => to.got.length === 1);
    const other = process();
    await other.turn();
    other.clock.advance(LEASE_MS + 100);
    await other.turn();
    expect(to.got).to.have.length(2);
    finish();
    await slow.lanes.idle();
    expect((await slow.deliveries())[0]).to.include({ state: 'success', made: 1, counted: false });
    expect(slow.log_lines.messages('warn')).to.deep.equal(['an attempt ended after its lease']);
  });

  it('a crash between the event and its deliveries is mended, for webhooks that were there', async () => {
    const world = process();
    const before = await world.hook(to.url);
    await world.emit({ id: 'evt_done' });
    await world.lanes.idle();
    const event = { id: 'evt_1', event: 'bug.created', timestamp: world.clock.iso(), project_slug: null, data: {} };
    await world.deps.events.insert(storedEvent(event, world.clock.iso(), true));
    expect(await world.fanout.reconcile(), 'perhaps at work in another process').to.equal(0);
    world.clock.advance(11_000);
    await world.hook(to.url);
    expect(await world.fanout.reconcile()).to.equal(1);
    await world.lanes.idle();
    await world.fanout.settled();
    expect(to.got).to.have.length(2);
    expect((await world.deliveries()).map((d) => [d.webhook_id, d.event_id])).to.have.deep.members([
      [before.id, 'evt_done'],
      [before.id, 'evt_1'],
    ]);
    expect(await world.fanout.reconcile()).to.equal(0);
  });

  it('told again by the outbox after a crash, the event makes the deliveries that are missing', async () => {
    const world = process();
    await world.hook(to.url);
    const event = { id: 'evt_1', event: 'bug.created', timestamp: world.clock.iso(), project_slug: null, data: {} };
    await world.deps.events.insert(storedEvent(event, world.clock.iso(), true));
    await world.emit(event);
    await world.lanes.idle();
    expect(to.got).to.have.length(1);
  });

  it('a delivery whose event a crash kept back waits until it is told again', async () => {
    const world = process();
    await world.hook(to.url);
    const insert = world.deps.events.insert.bind(world.deps.events);
    world.deps.events.insert = () => Promise.reject(new Error('killed'));
    const event = { id: 'evt_1', timestamp: world.clock.iso() };
    expect(await world.emit(event).catch((error: unknown) => error)).to.be.instanceOf(Error);
    world.deps.events.insert = insert;
    await world.lanes.idle();
    expect(await world.deps.deliveries.count()).to.equal(1);
    world.clock.advance(LEASE_MS);
    await world.turn();
    world.clock.advance(LEASE_MS);
    await world.turn();
    expect([to.got.length, await world.deps.deliveries.count()]).to.deep.equal([0, 1]);
    await world.emit(event);
    world.clock.advance(30_000);
    await world.turn();
    expect(to.got).to.have.length(1);
    expect((await world.deliveries())[0]).to.include({ state: 'success', made: 1 });
  });

  it('an event that is told again long after makes none for webhooks that came later', async () => {
    const world = process();
    const event = { id: 'evt_1', timestamp: world.clock.iso() };
    await world.emit(event);
    await world.hook(to.url);
    world.clock.advance(12_000);
    await world.emit(event);
    await world.turn();
    expect(to.got).to.have.length(0);
  });

  it('a store that fails keeps the event with its producer', async () => {
    const world = process();
    await world.hook(to.url);
    const real = world.deps.deliveries.bulk.bind(world.deps.deliveries);
    world.deps.deliveries.bulk = () => Promise.reject(new Error('the disk is full'));
    const failed = await world.emit({ id: 'evt_1' }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    world.deps.deliveries.bulk = real;
    await world.emit({ id: 'evt_1' });
    await world.lanes.idle();
    expect(to.got).to.have.length(1);
  });

  it('ten receivers that never answer delay an eleventh by nothing', async () => {
    const world = process();
    const never = await Receiver.open(() => undefined);
    const measure = async (): Promise<number[]> => {
      const times: number[] = [];
      for (let i = 0; i < 30; i++) {
        const began = performance.now();
        const n = to.got.length;
        await world.emit();
        await until('the delivery', () => to.got.length === n + 1);
        times.push(performance.now() - began);
        await until('the lane rests', async () => (await world.deps.deliveries.count({ state: 'success' })) === n + 1);
      }
      return times.toSorted((a, b) => a - b);
    };
    try {
      await world.hook(to.url);
      const alone = await measure();
      for (let i = 0; i < 10; i++) await world.hook(never.url);
      const beside = await measure();
      expect(never.got.length, 'each of the ten holds its own lane').to.equal(10);
      const median = (times: number[]): number => times[times.length >> 1] ?? 0;
      // Eleven deliveries are stored in place of one; a shared lane would cost 15 s.
      expect(median(beside)).to.be.lessThan(median(alone) + 40);
      expect(beside.at(-1)).to.be.lessThan(1_000);
    } finally {
      await never.close();
    }
  });

  it('gives back what was not begun when it stops', async () => {
    const world = process();
    let release = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 3) release = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    };
    await world.hook(to.url);
    await Promise.all(Array.from({ length: 10 }, () => world.emit()));
    await until('the third', () => to.got.length === 3);
    const stopping = world.lanes.stop();
    release();
    await stopping;
    expect(await world.deps.deliveries.count({ lease_by: { gt: '' } })).to.equal(0);
    expect(to.got).to.have.length(3);
    to.answer = status(204);
    await process().turn();
    expect(to.got).to.have.length(10);
  });
});
