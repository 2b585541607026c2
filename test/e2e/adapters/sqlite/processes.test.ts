/**
 * One file, several processes: nothing acknowledged is lost by a kill, and no write of another
 * process is overwritten.
 */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import type { Doc } from '../../../../ports/store/index.js';

const WRITER = fileURLToPath(new URL('./support/writer.js', import.meta.url));

interface Row extends Doc {
  n: number;
}

describe('sqlite: several processes', function () {
  let path = '';
  beforeEach(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'aos-processes-')), 'aos.db');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));

  const opened = async (): Promise<SqliteStore> => {
    const store = new SqliteStore({ path });
    await store.connect();
    return store;
  };

  it('retains every acknowledged write after kill -9 under load', async () => {
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const child = spawn(process.execPath, [WRITER, path, 'insert'], { stdio: ['ignore', 'pipe', 'inherit'] });
      const target = acknowledged.length + 300 + round * 170;
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(line);
        if (acknowledged.length === target) child.kill('SIGKILL');
      }
      const store = await opened();
      const rows = store.collection<Row>('rows');
      const found = await Promise.all(acknowledged.map((id) => rows.get(id)));
      const last = await rows.get('last');
      await store.close();
      expect(found.filter((row) => row === null)).to.have.length(0);
      expect(last?.n).to.be.at.least(acknowledged.length);
    }
  });

  it('retains the lock of the first store of a process when a second store closes', async () => {
    const first = await opened();
    await first.ensure([{ name: 'rows', indexes: [{ fields: ['n'] }] }]);
    await first.collection<Row>('rows').insert({ id: 'counter', n: 1 });
    await (await opened()).close();
    // The last to leave the file takes the log along: it is not the last.
    const [code] = (await once(spawn(process.execPath, [WRITER, path, 'inc', '10'], { stdio: 'inherit' }), 'exit')) as [
      number,
    ];
    expect(code).to.equal(0);
    expect(existsSync(`${path}-wal`)).to.equal(true);
    expect((await first.collection<Row>('rows').get('counter'))?.n).to.equal(11);
    await first.close();
  });

  it('loses no increment when two processes update the same document', async () => {
    const children = [0, 1].map(() => spawn(process.execPath, [WRITER, path, 'inc', '400'], { stdio: 'inherit' }));
    const store = await opened();
    const rows = store.collection<Row>('rows');
    const exits = Promise.all(children.map((child) => once(child, 'exit')));
    for (let i = 0; i < 100; i++) await rows.change({ id: 'counter' }, { inc: { n: 1 } }, { upsert: true });
    expect((await exits).map(([code]) => code as number)).to.deep.equal([0, 0]);
    expect((await rows.get('counter'))?.n).to.equal(900);
    await store.close();
  });

  it('retains an index that another process adds while a store is open', async () => {
    const [older, newer] = [await opened(), await opened()];
    const rows = older.collection<Row>('rows');
    await rows.insert({ id: 'a', n: 1 });
    await newer.ensure([{ name: 'rows', indexes: [{ fields: ['n'], unique: true }] }]);
    await rows.insert({ id: 'b', n: 2 });
    await rows.change({ id: 'a' }, { inc: { n: 4 } });
    const found = await newer.collection<Row>('rows').find({ filter: { n: { gte: 2 } }, sort: [['n', 'desc']] });
    expect(found.items.map((row) => row.id)).to.deep.equal(['a', 'b']);
    expect(await rows.bulk([{ insert: { id: 'c', n: 5 } }])).to.deep.equal([{ conflict: 'n' }]);
    await Promise.all([older.close(), newer.close()]);
  });

  it('waits for pending work on close, and rejects later calls', async () => {
    const store = await opened();
    const rows = store.collection<Row>('rows');
    const writes = Array.from({ length: 500 }, (_, n) => rows.insert({ id: `r${n}`, n }));
    await store.close();
    await Promise.all(writes);
    const late = await rows.insert({ id: 'late', n: 0 }).catch((error: unknown) => error);
    expect(late).to.be.instanceOf(Error).with.property('message', 'the store is closed');
    const again = await opened();
    expect(await again.collection<Row>('rows').count()).to.equal(500);
    await again.close();
  });

  it('reports a file that cannot be opened', async () => {
    const store = new SqliteStore({ path: join(path, '..') });
    const error = await store.connect().catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(Error).with.property('message').that.matches(/open/);
  });
});
