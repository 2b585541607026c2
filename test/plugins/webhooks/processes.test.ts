/** Several processes on one store, crashes and clocks that differ (contract 70, delivery; issue of the 30 seconds). */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { newDelivery } from '../../../plugins/webhooks/delivery.js';
import { storedEvent } from '../../../plugins/webhooks/event.js';
import { LEFTOVER_MS } from '../../../plugins/webhooks/fanout.js';
import { LEASE_MS } from '../../../plugins/webhooks/leases.js';
import type { DocumentStore } from '../../../ports/store.js';
import { until } from '../../harness.js';
import { Receiver, status } from './receiver.js';
import { ADMIN, ensured, MovedClock, STORES, worldOn, type World } from './world.js';

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
      'gone',
      [],
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

  const left = (world: World, to: string[], by = 'gone') =>
    storedEvent(
      { id: 'evt_1', event: 'bug.created', timestamp: world.clock.iso(), project_slug: null, data: {} },
      world.clock.iso(),
      by,
      to,
    );

  for (const [what, ahead] of Object.entries(skews)) {
    it(`a crash between the event and its deliveries is mended, for those that wanted it then: ${what}`, async () => {
      const world = process(ahead);
      const before = await world.hook(to.url);
      await world.emit({ id: 'evt_done' });
      await until('the marker gone', async () => (await world.deps.events.count({ fan_at: { gt: '' } })) === 0);
      await world.deps.events.insert(left(worlds[0]!, [before.id, 'deleted meanwhile']));
      await world.hook(to.url);
      await world.turn();
      world.clock.advance(LEFTOVER_MS - 2_000);
      await world.turn();
      expect(to.got, 'perhaps at work in another process').to.have.length(1);
      world.clock.advance(2_100);
      await world.turn();
      await world.turn();
      expect(to.got).to.have.length(2);
      expect((await world.deliveries()).map((d) => [d.webhook_id, d.event_id, d.state])).to.have.deep.members([
        [before.id, 'evt_done', 'success'],
        [before.id, 'evt_1', 'success'],
      ]);
      await world.fanout.settled();
      expect(await world.deps.events.count({ fan_at: { gt: '' } })).to.equal(0);
    });
  }

  it('a crash after some of the deliveries repeats none that has its outcome', async () => {
    const world = process();
    const hooks = [await world.hook(to.url), await world.hook(to.url)];
    const event = left(
      world,
      hooks.map(({ id }) => id),
    );
    await world.deps.events.insert(event);
    const delivered = newDelivery(hooks[0]!.id, event, world.clock.iso(), null);
    delete delivered.next_at;
    await world.deps.deliveries.insert({ ...delivered, state: 'success', made: 1 });
    await world.turn();
    world.clock.advance(LEFTOVER_MS);
    await world.turn();
    expect(to.got.map(({ headers }) => headers['x-svc-delivery'])).to.deep.equal([
      newDelivery(hooks[1]!.id, event, '', null).id,
    ]);
  });

  it('however many markers a crash left, all are taken over at once', async () => {
    const world = process();
    const hook = await world.hook(to.url);
    const event = left(world, [hook.id]);
    await world.deps.events.bulk(
      Array.from({ length: 450 }, (_, i) => ({ insert: { ...event, id: `evt_${i}`, fan_by: `gone ${i % 7}` } })),
    );
    await world.turn();
    world.clock.advance(LEFTOVER_MS);
    await world.turn();
    await until('all delivered', async () => (await world.deps.deliveries.count({ state: 'success' })) === 450, 20_000);
    expect(to.got).to.have.length(450);
    await world.fanout.settled();
    expect(await world.deps.events.count({ fan_at: { gt: '' } })).to.equal(0);
  });

  it('of two processes one takes a marker over', async () => {
    const [one, two] = [process(), process()];
    const hook = await one.hook(to.url);
    await one.deps.events.insert(left(one, [hook.id]));
    for (const world of [one, two]) await world.turn();
    for (const world of [one, two]) world.clock.advance(LEFTOVER_MS);
    await Promise.all([one.turn(), two.turn()]);
    await until('the delivery', () => to.got.length > 0);
    for (const world of [one, two]) await world.turn();
    expect(to.got).to.have.length(1);
  });

  it('told again by the outbox, a stored event makes nothing new', async () => {
    const world = process();
    const hook = await world.hook(to.url);
    await world.deps.events.insert(left(world, [hook.id]));
    await world.emit({ id: 'evt_1' });
    await world.lanes.idle();
    expect(to.got, 'its marker leads to it').to.have.length(0);
    await world.turn();
    world.clock.advance(LEFTOVER_MS);
    await world.turn();
    expect(to.got).to.have.length(1);
  });

  it('an attempt that lasts is seen in the log, and what waits behind it', async () => {
    const world = process();
    let finish = (): void => undefined;
    to.answer = ({ response, n }) => {
      if (n === 1) finish = () => response.writeHead(204).end();
      else response.writeHead(204).end();
    };
    const hook = await world.hook(to.url);
    await world.emit();
    await until('the attempt', () => to.got.length === 1);
    await world.emit();
    expect(await world.deliveries(hook.id)).to.deep.equal([]);
    world.clock.advance(1_001);
    await until('its row', async () => (await world.deliveries()).length === 1);
    expect((await world.deliveries())[0]).to.include({ state: 'pending', made: 0, lease_by: world.lanes.instance });
    world.clock.advance(8_001);
    await until('the row of the other', async () => (await world.deliveries()).length === 2);
    expect(await world.log.queued()).to.equal(2);
    await until('no marker', async () => (await world.deps.events.count({ fan_at: { gt: '' } })) === 0);
    finish();
    await until('both', async () => (await world.deps.deliveries.count({ state: 'success' })) === 2);
    expect(to.got).to.have.length(2);
  });

  it('disabled while deliveries wait in memory, they are held', async () => {
    const world = process();
    let finish = (): void => undefined;
    to.answer = ({ response }) => (finish = () => response.writeHead(204).end());
    const hook = await world.hook(to.url);
    await Promise.all(Array.from({ length: 3 }, () => world.emit()));
    await until('the attempt', () => to.got.length === 1);
    await world.registry.disable(ADMIN, hook.id);
    finish();
    await world.lanes.idle();
    const states = (await world.deliveries()).map(({ state }) => state);
    expect(states).to.have.members(['success', 'held', 'held']);
    expect(to.got).to.have.length(1);
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
    const real = world.deps.events.insert.bind(world.deps.events);
    world.deps.events.insert = () => Promise.reject(new Error('the disk is full'));
    const failed = await world.emit({ id: 'evt_1' }).catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(Error);
    world.deps.events.insert = real;
    await world.emit({ id: 'evt_1' });
    await world.lanes.idle();
    expect(to.got).to.have.length(1);
  });

  it('a delivery whose outcome cannot be stored is made again', async () => {
    const world = process();
    await world.hook(to.url);
    const real = world.deps.deliveries.bulk.bind(world.deps.deliveries);
    world.deps.deliveries.bulk = () => Promise.reject(new Error('the disk is full'));
    await world.emit({ id: 'evt_1' });
    await world.lanes.idle();
    expect([to.got.length, await world.deps.deliveries.count()]).to.deep.equal([1, 0]);
    world.deps.deliveries.bulk = real;
    await world.turn();
    expect(to.got).to.have.length(2);
    expect((await world.deliveries())[0]).to.include({ state: 'success', made: 1 });
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
