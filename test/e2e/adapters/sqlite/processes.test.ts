/** One file, several processes: nothing acknowledged is lost by a kill, and no write of another process is overwritten. */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import { findCached, getCached } from '../../../../ports/cached-reads.js';
import { findRendered, type Rendered } from '../../../../ports/rendering.js';
import type { Doc } from '../../../../ports/store.js';
import { RENDERED, type RenderedRow } from '../../../../testing/contracts/rendered.js';

const WRITER = fileURLToPath(new URL('./support/writer.js', import.meta.url));

interface Row extends Doc {
  n: number;
}

describe('sqlite processes', function () {
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

  it('keeps every acknowledged write after kill -9 under load', async () => {
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

  it('keeps the lock of the first store of a process when a second one closes', async () => {
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

  it('loses no increment of two processes on one document', async () => {
    const children = [0, 1].map(() => spawn(process.execPath, [WRITER, path, 'inc', '400'], { stdio: 'inherit' }));
    const store = await opened();
    const rows = store.collection<Row>('rows');
    const exits = Promise.all(children.map((child) => once(child, 'exit')));
    for (let i = 0; i < 100; i++) await rows.change({ id: 'counter' }, { inc: { n: 1 } }, { upsert: true });
    expect((await exits).map(([code]) => code as number)).to.deep.equal([0, 0]);
    expect((await rows.get('counter'))?.n).to.equal(900);
    await store.close();
  });

  it('updates a cached read after a write of another process', async () => {
    const [here, there] = [await opened(), await opened()];
    const rows = here.collection<Row>('rows');
    await rows.insert({ id: 'a', n: 1 });
    expect(await getCached(rows, 'a')).to.deep.equal({ id: 'a', n: 1 });
    await there.collection<Row>('rows').change({ id: 'a' }, { inc: { n: 1 } });
    const seen = async (): Promise<number | undefined> => (await getCached(rows, 'a'))?.n;
    for (let n = await seen(); n !== 2; n = await seen()) await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([here.close(), there.close()]);
  });

  it('keeps cached reads of the last write of this process', async () => {
    const [here, there] = [await opened(), await opened()];
    const rows = here.collection<Row>('rows');
    const beside = here.collection<Row>('beside');
    const theirs = there.collection<Row>('rows');
    await rows.insert({ id: 'a', n: 0 });
    await beside.insert({ id: 'b', n: 0 });
    for (let n = 1; n <= 200; n++) {
      await Promise.all([getCached(rows, 'a'), findCached(rows)]);
      await theirs.change({ id: 'a' }, { inc: { n: 1 } });
      await beside.change({ id: 'b' }, { inc: { n: 1 } });
      expect((await getCached(rows, 'a'))?.n).to.equal(n);
      expect((await findCached(rows)).items).to.deep.equal([{ id: 'a', n }]);
    }
    await Promise.all([here.close(), there.close()]);
  });

  it('renders a page once until the next write of this process or another one', async () => {
    const [here, there] = [await opened(), await opened()];
    const rows = here.collection<RenderedRow>('rows');
    const beside = here.collection<RenderedRow>('beside');
    const elsewhere = here.collection<Row>('elsewhere');
    await rows.insert({ id: 'a', n: 0 });
    await beside.insert({ id: 'a', text: '0' });
    await elsewhere.insert({ id: 'a', n: 0 });
    const page = (): Promise<Rendered> => findRendered(rows, {}, { ...RENDERED, beside, context: { add: 0 } });
    const shown = async (): Promise<unknown> => {
      const { json } = await page();
      return JSON.parse(typeof json === 'string' ? json : new TextDecoder().decode(json));
    };
    let text = '0';
    const expected = (n: number): unknown => [{ id: 'a', sum: n, beside: { id: 'a', text } }];
    const inc = { inc: { n: 1 } };
    for (let n = 1; n <= 60; n += 2) {
      await rows.change({ id: 'a' }, inc);
      expect(await shown()).to.deep.equal(expected(n));
      await elsewhere.change({ id: 'a' }, inc);
      await there.collection<RenderedRow>('rows').change({ id: 'a' }, inc);
      text = String(n);
      await there.collection<RenderedRow>('beside').change({ id: 'a' }, { set: { text } });
      await setTimeout(8);
      expect(await shown()).to.deep.equal(expected(n + 1));
    }
    const last = await page();
    for (let n = 0; n < 4; n++) {
      await setTimeout(8);
      expect(await page()).to.equal(last);
    }
    await Promise.all([here.close(), there.close()]);
  });

  it('keeps an index that another process adds while a store is open', async () => {
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

  it('waits in close for pending work, and rejects later calls', async () => {
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
