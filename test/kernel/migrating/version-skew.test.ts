/** Older and newer versions of the service on one store (contract 95, a bad day). */
import { expect } from 'chai';
import { isLater, assertNotTooNew, StoreTooNew } from '../../../kernel/migrations/version-skew.js';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { completeManifest } from '../../../kernel/manifest.js';
import { Migrator } from '../../../kernel/migrations/migrator.js';
import bugs from '../../../plugins/bugs/plugin.js';
import type { CollectionSpec } from '../../../ports/store/index.js';
import { ManualClock } from '../../kit/clock.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';
import { getRejection } from '../../harness.js';

/** Counts how often indexes were declared. */
class Ensuring extends MemoryStore {
  ensured = 0;
  override async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    this.ensured += 1;
    await super.ensure(specs);
  }
}

const LATER = { number: 900, name: 'later', run: async () => undefined };

describe('kernel: version skew on one store', () => {
  const rejected = (version: string | null, own: string): boolean => {
    try {
      assertNotTooNew([{ id: 'bugs:007-x', applied_at: null, version }], () => false, own);
      return false;
    } catch (error) {
      expect(error).to.be.instanceOf(StoreTooNew);
      return true;
    }
  };

  it('allows a difference of one minor version', () => {
    for (const version of ['0.2.0', '0.2.9', '0.1.0', '0.3.0', '0.3.7', '0.3.0-beta.1', null])
      expect(rejected(version, '0.2.4'), String(version)).to.equal(false);
    for (const version of ['0.4.0', '0.10.0', '1.0.0', '1.2.0', '2.0.0'])
      expect(rejected(version, '0.2.4'), version).to.equal(true);
    expect(rejected('1.9.0', '2.0.0'), 'an earlier major version').to.equal(false);
    expect(isLater({ version: '0.3.0' }, '0.2.9')).to.equal(true);
    for (const version of ['0.2.9', '0.1.0', null]) expect(isLater({ version }, '0.2.0')).to.equal(false);
  });

  it('accepts a migration that this version contains', () => {
    assertNotTooNew([{ id: 'bugs:007-x', applied_at: null, version: '9.0.0' }], (id) => id === 'bugs:007-x', '0.2.0');
  });

  describe('after a later version has migrated the store', () => {
    const collections = bugs.collections ?? [];
    let store: Ensuring;
    const version = (own: string, change: Partial<typeof bugs> = {}): Migrator => {
      const parts = { store, clock: new ManualClock(), ids: new FakeIds(`0198${own}`), log: new RecordingLog() };
      return new Migrator({ ...parts, version: own }, [completeManifest({ ...bugs, ...change })]);
    };
    const [first = { name: 'items', indexes: [] }, ...rest] = collections;
    const next = {
      migrations: [...(bugs.migrations ?? []), LATER],
      collections: [{ ...first, indexes: [...first.indexes, { fields: ['later'] }] }, ...rest],
    };
    beforeEach(() => {
      store = new Ensuring();
    });

    it('has nothing to do in the earlier version, and leaves later indexes unchanged', async () => {
      await version('0.3.0', next).run();
      const { ensured } = store;
      const before = version('0.2.0');
      expect(await before.listPending()).to.deep.equal([]);
      expect(await before.run()).to.deep.equal({ applied: [], pending: [], failed: [] });
      expect(store.ensured).to.equal(ensured);
    });

    it('rejects a start of an incompatible version, with the migration and both versions', async () => {
      await version('0.3.0', next).run();
      for (const work of [() => version('0.1.0').listPending(), () => version('0.1.0').run()]) {
        const { name, message } = await getRejection(work());
        expect(name).to.equal('StoreTooNew');
        expect(message).to.match(
          /^the store has the migration bugs:\S+ of version 0\.3\.0, which is unknown to this version, 0\.1\.0:/,
        );
        expect(message).to.not.include('\n');
      }
    });

    it('migrates the store of the previous version in each version', async () => {
      // The indexes, and each migration.
      expect((await version('0.1.0').run()).applied).to.have.length(1 + (bugs.migrations ?? []).length);
      expect((await version('0.2.0', next).run()).applied).to.have.length(2);
      expect((await version('0.1.0').run()).applied).to.deep.equal([]);
      const later = { ...next, migrations: [...next.migrations, { ...LATER, number: 901, name: 'latest' }] };
      expect((await version('0.3.0', later).run()).applied).to.deep.equal(['bugs:901-latest']);
      expect((await version('0.2.0', next).run()).applied).to.deep.equal([]);
      expect((await getRejection(version('0.1.0').run())).name).to.equal('StoreTooNew');
    });

    it('starts with records of a removed plugin, and with records without a version', async () => {
      const records = store.collection<{ id: string; applied_at: string; version?: string }>('kernel_migrations');
      await records.insert({ id: 'chat:001-rooms', applied_at: '2026-01-01T00:00:00.000Z' });
      await records.insert({ id: 'gone:001-x', applied_at: '2026-01-01T00:00:00.000Z', version: '0.1.0' });
      expect((await version('0.2.0').run()).failed).to.deep.equal([]);
    });
  });
});
