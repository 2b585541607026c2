import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { LeaseLost, type LeaseRow } from '../../../lib/lease.js';
import type { FullManifest } from '../../../kernel/manifest.js';
import { Migrator } from '../../../kernel/migrations/migrator.js';
import type { Migration } from '../../../kernel/contract/index.js';
import type { CollectionSpec, DocumentStore } from '../../../ports/store/index.js';
import { getRejection, waitUntil } from '../../harness.js';
import { ManualClock } from '../../kit/clock.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';

const manifest = (id: string, migrations: Migration[], collections: CollectionSpec[] = []): FullManifest => ({
  id,
  section: id,
  version: '1.0.0',
  title: id,
  critical: false,
  after: [],
  needs: [],
  uses: [],
  provides: [],
  ports: [],
  extensionPoints: [],
  extends: [],
  errors: {},
  tags: {},
  decidesHealth: false,
  config: null,
  scopes: [],
  events: [],
  collections,
  migrations,
});
const step = (number: number, name: string, run: Migration['run'] = async () => undefined): Migration => ({
  number,
  name,
  run,
});

interface Process {
  migrator: Migrator;
  clock: ManualClock;
  log: RecordingLog;
}
let processes = 0;
const processOn = (store: DocumentStore, manifests: FullManifest[], leaseMs = 60_000, version = '0.2.0'): Process => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const ids = new FakeIds(`0198${String(++processes).padStart(4, '0')}`);
  return { clock, log, migrator: new Migrator({ store, clock, ids, log, leaseMs, version }, manifests) };
};

describe('kernel/migrator', () => {
  describe('of a new store', () => {
    const collections: CollectionSpec[] = [{ name: 'items', indexes: [{ fields: ['status'] }] }];
    const manifests = ['access', 'bugs', 'late'].map((id) => manifest(id, [step(1, 'first')], collections));
    const ALL = ['access', 'bugs', 'late'].flatMap((id) => [`${id}:001-first`, `${id}:indexes`]);
    const withoutHash = (ids: readonly string[]): string[] =>
      ids.map((id) => id.replace(/(:indexes)-[0-9a-f]{8}$/, '$1')).toSorted();

    it('creates the collections of all plugins together, and records them in one write', async () => {
      const store = new MemoryStore();
      const calls: string[] = [];
      const ensure = store.ensure.bind(store);
      store.ensure = async (specs) => {
        calls.push(specs.map(({ name }) => name).join());
        await ensure(specs);
      };
      const { applied, failed } = await processOn(store, manifests).migrator.run();
      expect(calls).to.deep.equal(['access_items,bugs_items,late_items']);
      expect([withoutHash(applied), failed]).to.deep.equal([ALL, []]);
      const { migrator } = processOn(store, manifests);
      const records = await migrator.listApplied();
      expect(withoutHash(records.map(({ id }) => id))).to.deep.equal(ALL);
      expect(new Set(records.map(({ applied_at }) => applied_at))).to.have.property('size', 1);
      expect(await migrator.listPending()).to.deep.equal([]);
    });

    it('creates the other plugins’ collections when one plugin’s declaration is rejected by the store', async () => {
      const store = new MemoryStore();
      const ensure = store.ensure.bind(store);
      store.ensure = async (specs) => {
        if (specs.some(({ name }) => name === 'bugs_items')) throw new Error('rejected');
        await ensure(specs);
      };
      const { applied, failed } = await processOn(store, manifests).migrator.run();
      expect(withoutHash(applied)).to.deep.equal(ALL.filter((id) => !id.startsWith('bugs')));
      expect(failed.map(({ plugin }) => plugin)).to.deep.equal(['bugs']);
    });
  });

  it('runs pending migrations in order, records them, and does nothing the second time', async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const note = (name: string) => async (): Promise<void> => void ran.push(name);
    const manifests = [
      manifest('access', [step(1, 'first', note('access 1')), step(7, 'seventh', note('access 7'))]),
      manifest(
        'bugs',
        [step(1, 'first', note('bugs 1'))],
        [{ name: 'items', indexes: [{ fields: ['ref'], unique: true }] }],
      ),
    ];
    const { migrator } = processOn(store, manifests);
    const pending = await migrator.listPending();
    expect(pending.map((id) => id.replace(/-[0-9a-f]{8}$/, '-HASH'))).to.deep.equal([
      'access:001-first',
      'access:007-seventh',
      'bugs:indexes-HASH',
      'bugs:001-first',
    ]);
    expect(await migrator.run()).to.deep.equal({ applied: pending, pending: [], failed: [] });
    expect(ran).to.deep.equal(['access 1', 'access 7', 'bugs 1']);
    expect((await migrator.listApplied()).map(({ id }) => id)).to.have.members(pending);
    expect(await migrator.run()).to.deep.equal({ applied: [], pending: [], failed: [] });
  });

  it('creates collections with their indexes, and updates them when the declaration changes', async () => {
    const store = new MemoryStore();
    const specs = (...fields: string[]): CollectionSpec[] => [
      { name: 'items', indexes: fields.map((field) => ({ fields: [field], unique: true })) },
    ];
    await processOn(store, [manifest('bugs', [], specs('ref'))]).migrator.run();
    await store.collection<{ id: string; ref: string }>('bugs_items').insert({ id: '1', ref: 'a' });
    const twin = store.collection<{ id: string; ref: string }>('bugs_items').insert({ id: '2', ref: 'a' });
    expect((await getRejection(twin)).name).to.equal('StoreConflict');
    expect(await processOn(store, [manifest('bugs', [], specs('ref'))]).migrator.listPending()).to.deep.equal([]);
    expect(
      await processOn(store, [manifest('bugs', [], specs('slug', 'ref'))]).migrator.listPending(),
    ).to.have.lengthOf(1);
  });

  it('gives a migration access only to its plugin’s collections', async () => {
    const store = new MemoryStore();
    const reach = step(1, 'reach', async (ctx) => {
      await ctx.collection('items').insert({ id: '1' });
      ctx.collection('users');
    });
    const { migrator } = processOn(store, [manifest('bugs', [reach], [{ name: 'items', indexes: [] }])]);
    const { failed } = await migrator.run();
    expect(failed.map(({ id, error }) => `${id} ${(error as Error).message}`)).to.deep.equal([
      'bugs:001-reach the collection "users" is not in its manifest: declare it in `collections`',
    ]);
    expect(await store.collection('bugs_items').count()).to.equal(1);
  });

  it('leaves a failed migration and its plugin’s later migrations pending, and runs the others', async () => {
    const store = new MemoryStore();
    let broken = true;
    const flaky = step(1, 'flaky', async () => {
      if (broken) throw new Error('disk full');
    });
    const { migrator } = processOn(store, [
      manifest('bugs', [flaky, step(2, 'next')]),
      manifest('chat', [step(1, 'first')]),
    ]);
    const first = await migrator.run();
    expect(first.applied).to.deep.equal(['chat:001-first']);
    expect(first.pending).to.deep.equal(['bugs:001-flaky', 'bugs:002-next']);
    expect(first.failed.map(({ plugin, id }) => [plugin, id])).to.deep.equal([['bugs', 'bugs:001-flaky']]);
    broken = false;
    expect((await migrator.run()).applied).to.deep.equal(['bugs:001-flaky', 'bugs:002-next']);
  });

  it('skips a plugin whose applied migration was renamed, until its record is removed', async () => {
    const store = new MemoryStore();
    await processOn(store, [manifest('bugs', [step(1, 'first')]), manifest('chat', [])]).migrator.run();
    const { migrator } = processOn(store, [
      manifest('bugs', [step(1, 'start'), step(2, 'next')]),
      manifest('chat', [step(1, 'first')]),
    ]);
    const { applied, pending, failed } = await migrator.run();
    expect([applied, pending]).to.deep.equal([['chat:001-first'], []]);
    expect(failed.map(({ plugin, id, error }) => [plugin, id, (error as Error).message])).to.deep.equal([
      [
        'bugs',
        'bugs:001-start',
        'it was applied as bugs:001-first: restore that name for bugs:001-start, and give a changed migration a new number; or run `aos plugin forget bugs` to run all migrations of the plugin again',
      ],
    ]);
    expect((await migrator.run()).failed).to.have.lengthOf(1);
    expect(await migrator.forget('bugs')).to.include('bugs:001-first');
    expect((await migrator.run()).applied).to.deep.equal(['bugs:001-start', 'bugs:002-next']);
  });

  it('runs each migration once when several processes start together', async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const slow = (name: string) => async (): Promise<void> => {
      ran.push(name);
      await new Promise((resolve) => setImmediate(resolve));
    };
    const all = Array.from({ length: 4 }, () =>
      processOn(store, [
        manifest('bugs', [step(1, 'one', slow('one')), step(2, 'two', slow('two')), step(3, 'three', slow('three'))]),
      ]),
    );
    const outcomes = await Promise.all(all.map(({ migrator }) => migrator.run()));
    expect(ran).to.deep.equal(['one', 'two', 'three']);
    expect(outcomes.map(({ applied }) => applied.length).sort((a, b) => a - b)).to.deep.equal([0, 0, 0, 3]);
    expect(outcomes.every(({ pending }) => pending.length === 0)).to.equal(true);
    expect(all.flatMap(({ log }) => log.messages('info')).filter((m) => m.startsWith('waiting'))).to.have.lengthOf(3);
  });

  it('takes over from a process that died during a migration', async () => {
    const store = new MemoryStore();
    await store.collection<LeaseRow>('kernel_leases').insert({ id: 'migrations', holder: 'dead', beat: 5 });
    const { migrator, clock, log } = processOn(store, [manifest('bugs', [step(1, 'one')])], 15_000);
    const running = migrator.run();
    await waitUntil('it waits', () => log.messages('info').length > 0);
    clock.advance(14_999);
    expect(await migrator.listPending()).to.have.lengthOf(1);
    clock.advance(1);
    expect((await running).applied).to.deep.equal(['bugs:001-one']);
  });
});

describe('kernel/migrator: lease', () => {
  it('stops the migrations of a process that lost the lease', async () => {
    const store = new MemoryStore();
    const ran: string[] = [];
    const robbed = step(1, 'robbed', async () => {
      ran.push('robbed');
      await store.collection<LeaseRow>('kernel_leases').change({ id: 'migrations' }, { set: { holder: 'other' } });
    });
    const { migrator } = processOn(store, [
      manifest('bugs', [robbed, step(2, 'next', async () => void ran.push('next'))]),
    ]);
    expect(await getRejection(migrator.run())).to.be.instanceOf(LeaseLost);
    expect(ran).to.deep.equal(['robbed']);
  });
});
