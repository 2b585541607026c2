/**
 * A process that writes to one file as fast as it can. `node writer.js <path> insert` prints each
 * acknowledged id and runs until it is killed; `node writer.js <path> inc <n>` makes n increments
 * of one document and ends.
 */
import { writeSync } from 'node:fs';
import { SqliteStore } from '../../../../../adapters/sqlite/store.js';
import type { Doc } from '../../../../../ports/store/index.js';

const [path = '', mode, count] = process.argv.slice(2);
const store = new SqliteStore({ path });
await store.connect();
await store.ensure([{ name: 'rows', indexes: [{ fields: ['n'] }] }]);
const rows = store.collection<Doc & { n: number; text?: string }>('rows');

async function insertForever(caller: number): Promise<never> {
  for (let i = 0; ; i++) {
    const id = `${process.pid}-${caller}-${i}`;
    await rows.insert({ id, n: i, text: 'x'.repeat(700) });
    await rows.change({ id: 'last' }, { set: { text: id }, inc: { n: 1 } }, { upsert: true });
    writeSync(1, `${id}\n`);
  }
}

if (mode === 'insert') await Promise.all(Array.from({ length: 16 }, (_, caller) => insertForever(caller)));
else {
  const one = async (): Promise<unknown> => rows.change({ id: 'counter' }, { inc: { n: 1 } }, { upsert: true });
  for (let left = Number(count); left > 0; left -= 10)
    await Promise.all(Array.from({ length: Math.min(10, left) }, one));
  await store.close();
}
