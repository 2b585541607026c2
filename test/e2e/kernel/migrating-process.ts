/**
 * A process that migrates an embedded store: the test starts several at once. Arguments: the file
 * of the store, the log.
 */
import { appendFile } from 'node:fs/promises';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import type { Plugin } from '../../../kernel/contract/index.js';
import { createTestKernel } from '../../harness.js';
import { FakeIds } from '../../kit/fakes.js';

const [file = '', log = ''] = process.argv.slice(2);

const plugin: Plugin = {
  id: 'moved',
  version: '1.0.0',
  api: 1,
  title: 'Moved',
  collections: [{ name: 'counters', indexes: [{ fields: ['n'] }] }],
  migrations: [1, 2, 3].map((number) => ({
    number,
    name: 'count',
    async run(ctx) {
      await appendFile(log, `${number}\n`);
      await ctx.collection('counters').change({ id: 'all' }, { inc: { n: 1 } }, { upsert: true });
    },
  })),
  setup: () => ({}),
};

const { kernel } = createTestKernel([plugin], {
  mode: 'command',
  store: new SqliteStore({ path: file, durability: 'full' }),
  parts: { ids: new FakeIds(String(process.pid).padStart(8, '0')) },
});
await kernel.boot('command');
const { applied, pending } = await kernel.system.listMigrations();
process.stdout.write(JSON.stringify({ applied: applied.length, pending: pending.length }));
await kernel.stop();
