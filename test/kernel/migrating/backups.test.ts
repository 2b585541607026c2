/**
 * A backup comes before the migrations of a store that is in use; without one nothing is changed
 * (contract 95, command line).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import type { FullManifest } from '../../../kernel/manifest.js';
import { Migrator } from '../../../kernel/migrations/migrator.js';
import type { Backups } from '../../../ports/store/backups.js';
import { ManualClock } from '../../kit/clock.js';
import { FakeIds, RecordingLog } from '../../kit/fakes.js';
import { getRejection } from '../../harness.js';

const steps: string[] = [];
const manifest = (...names: string[]): FullManifest =>
  ({
    id: 'bugs',
    collections: [],
    migrations: names.map((name, n) => ({ number: n + 1, name, run: async () => void steps.push(name) })),
  }) as unknown as FullManifest;

describe('kernel: backups before migrations', () => {
  const store = new MemoryStore();
  const clock = new ManualClock();
  let fail = false;
  const noted: string[][] = [];
  const migrated = async (): Promise<string[]> =>
    (await store.collection('kernel_migrations').find({ limit: 100 })).items.map(({ id }) => id);
  const backups: Backups = {
    folder: '/backups',
    findNewest: () => Promise.resolve(null),
    create: async (options) => {
      if (fail) throw new Error('There is no room for /backups/x.');
      steps.push(`backup ${JSON.stringify(options)}`);
      return { path: '/backups/x', at: clock.iso(), bytes: 1 };
    },
    recordMigration: async () => void noted.push(await migrated()),
  };
  const migrator = (...names: string[]): Migrator =>
    new Migrator({ store, clock, ids: new FakeIds(), log: new RecordingLog(), version: '0.2.0', backups }, [
      manifest(...names),
    ]);

  it('are created before the first migration of a store in use, and not without pending migrations', async () => {
    await migrator('one').run();
    expect(steps.splice(0)).to.deep.equal(['one']);
    await migrator('one', 'two', 'three').run();
    expect(steps.splice(0)).to.deep.equal(['backup {"beforeMigration":true}', 'two', 'three']);
    await migrator('one', 'two', 'three').run();
    expect(steps).to.deep.equal([]);
  });

  it('stop the migrations when they fail, and are retried by the next start', async () => {
    fail = true;
    const later = migrator('one', 'two', 'three', 'four');
    const error = await getRejection(later.run());
    expect(error.message).to.equal(
      'migrations require a backup, which could not be created: There is no room for /backups/x.',
    );
    expect(steps).to.deep.equal([]);
    expect(await later.listPending()).to.deep.equal(['bugs:004-four']);
    fail = false;
    await later.run();
    expect(steps.splice(0)).to.deep.equal(['backup {"beforeMigration":true}', 'four']);
  });

  it('are marked as no longer needed when nothing is pending, but not after a failure', async () => {
    noted.splice(0);
    const failing = { ...manifest('one'), id: 'late' };
    const broken = { ...failing, migrations: [{ number: 1, name: 'one', run: () => Promise.reject(new Error('no')) }] };
    const run = (last: FullManifest) =>
      new Migrator({ store, clock, ids: new FakeIds(), log: new RecordingLog(), version: '0.3.0', backups }, [
        manifest('one', 'two', 'three', 'four'),
        last,
      ]).run();
    await run(broken);
    expect(noted).to.deep.equal([]);
    await run(failing);
    expect(noted).to.have.length(1);
    expect(noted[0]).to.include('late:001-one');
    await run(failing);
    expect(noted).to.have.length(2);
  });
});
