/**
 * `ctx.lock`: one at a time, over every engine, and what happens when its holder dies or falls
 * asleep.
 */
import { expect } from 'chai';
import {
  definePlugin,
  LeaseLost,
  type HeldLock,
  type Plugin,
  type PluginContext,
} from '../../kernel/contract/index.js';
import { LOCK_DURATION_MS, PluginLocks } from '../../kernel/locks.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { ProcessOwner, Processes } from '../../ports/processes.js';
import type { DocumentStore } from '../../ports/store/index.js';
import { boot, FakeIds, ManualClock, MemoryStore, RecordingLog } from '../kit/index.js';
import { getRejection, waitUntil } from '../harness.js';
import { PluginStores } from '../support/stores.js';

const STORES = new PluginStores('kernel', []);
const log = new RecordingLog();

/** The processes of one host. */
class Host {
  readonly gone = new Set<number>();
  process(pid: number): Processes {
    const self: ProcessOwner = { host: 'h', pid, started: null };
    return { getSelf: async () => self, isDead: async (owner) => this.gone.has(owner.pid) };
  }
}

const opened = (): { wait: Promise<void>; open: () => void } => {
  let open = (): void => undefined;
  const wait = new Promise<void>((resolve) => (open = resolve));
  return { wait, open };
};

for (const engine of STORES.all) {
  describe(`kernel: plugin locks (${engine.name})`, () => {
    let store: DocumentStore;
    let close = async (): Promise<void> => undefined;
    let clock: ManualClock;
    let host: Host;
    let ids: FakeIds;
    beforeEach(async function () {
      ({ store, close } = await engine.open(() => this.skip()));
      clock = new ManualClock();
      ids = new FakeIds();
      host = new Host();
    });
    afterEach(() => close());
    const process_ = (pid: number): PluginLocks => new PluginLocks({ store, clock, ids, processes: host.process(pid) });
    const take = <T>(locks: PluginLocks, work: (held: HeldLock) => Promise<T>, name = 'sync', plugin = 'oncall') =>
      locks.run(plugin, name, log, work);

    it('runs one of many concurrent calls in several processes, and returns null to the others', async () => {
      const all = [process_(1), process_(2), process_(3)];
      const gate = opened();
      let inside = 0;
      let most = 0;
      const work = async (): Promise<string> => {
        most = Math.max(most, ++inside);
        await gate.wait;
        inside -= 1;
        return 'done';
      };
      const runs = Array.from({ length: 12 }, (_, i) => take(all[i % 3] ?? process_(1), work));
      let over = 0;
      for (const run of runs) void run.then(() => (over += 1));
      await waitUntil('all but one have ended', async () => over === runs.length - 1);
      gate.open();
      const results = await Promise.all(runs);
      expect(results.filter((one) => one !== null)).to.deep.equal([{ result: 'done' }]);
      expect(most).to.equal(1);
      expect(await take(process_(2), async () => 2)).to.deep.equal({ result: 2 });
    });

    it('releases the lock when the work throws, and increments the fencing token', async () => {
      const fences: number[] = [];
      const fail = async (held: HeldLock): Promise<void> => {
        fences.push(held.fence);
        throw new Error('no network');
      };
      expect((await getRejection(take(process_(1), fail))).message).to.equal('no network');
      await getRejection(take(process_(2), fail));
      expect(fences[1]).to.be.greaterThan(fences[0] ?? Infinity);
    });

    it('uses separate locks for other names and for the same name in another plugin', async () => {
      const locks = process_(1);
      const nested = await take(locks, async () => [
        await take(locks, async () => 'same'),
        await take(locks, async () => 'name', 'other'),
        await take(locks, async () => 'plugin', 'sync', 'mirror'),
      ]);
      expect(nested).to.deep.equal({ result: [null, { result: 'name' }, { result: 'plugin' }] });
    });

    it('replaces a dead holder immediately on the same host, and after the lease on another host', async () => {
      const heldBy = (locks: PluginLocks): Promise<void> =>
        new Promise((resolve, reject) => {
          void take(locks, () => (resolve(), new Promise<never>(() => undefined))).catch(reject);
        });
      await heldBy(process_(1));
      expect(await take(process_(2), async () => 1)).to.equal(null);
      host.gone.add(1);
      expect(await take(process_(2), async () => 1)).to.deep.equal({ result: 1 });
      host.gone.clear();
      await heldBy(process_(3));
      expect(await take(process_(2), async () => 1)).to.equal(null);
      clock.advance(LOCK_DURATION_MS + 1);
      expect(await take(process_(2), async () => 1)).to.deep.equal({ result: 1 });
    });

    it('fails the call of a holder that lost its lock', async () => {
      let aborted = false;
      const run = take(process_(1), async (held) => {
        clock.advance(LOCK_DURATION_MS + 1);
        expect(await take(process_(2), async () => 'taken over')).to.deep.equal({ result: 'taken over' });
        expect(await getRejection(held.confirm())).to.be.instanceOf(LeaseLost);
        aborted = held.signal.aborted;
      });
      expect(await getRejection(run)).to.be.instanceOf(LeaseLost);
      expect(aborted).to.equal(true);
      expect(await take(process_(1), async () => 'free')).to.deep.equal({ result: 'free' });
    });
  });
}

describe('kernel: ctx.lock', () => {
  let ctx: PluginContext | undefined;
  const plugin = (id: string): Plugin =>
    definePlugin({
      id,
      version: '1.0.0',
      api: 1,
      title: id,
      setup: (given) => {
        ctx = given;
        return {};
      },
    });

  it('prefixes the lock with the plugin’s id, and rejects invalid names', async () => {
    const store = new MemoryStore();
    const service = await boot([plugin('oncall')], { store });
    const held = await ctx?.lock('sync:shop', async ({ fence }) => fence);
    expect(held).to.deep.equal({ result: 1 });
    const rows = await store.collection<LeaseRow>('kernel_leases').find();
    expect(rows.items.map(({ id }) => id)).to.include('oncall:sync:shop');
    for (const name of ['', ' x', 'a b', '$x', 'x'.repeat(101)])
      expect(await getRejection((ctx as PluginContext).lock(name, async () => 1))).to.be.instanceOf(TypeError);
    await service.stop();
  });
});
