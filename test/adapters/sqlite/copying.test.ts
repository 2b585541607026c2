/**
 * A copy of the embedded store while it is written to: one moment of it, and nobody waits for it
 * (contract 95, command line).
 */
import { expect } from 'chai';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyStore } from '../../../adapters/sqlite/copying/copy-store.js';
import { openDriver } from '../../../adapters/sqlite/driver/open.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { getRejection } from '../../harness.js';

interface Row {
  id: string;
  n: number;
  text: string;
}

describe('sqlite: store copies', function () {
  let folder: string;
  let store: SqliteStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-copy-'));
    store = new SqliteStore({ path: join(folder, 'a.db') });
    await store.connect();
    await store.ensure([{ name: 'rows', indexes: [{ fields: ['n'] }], search: ['text'] }]);
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true, force: true });
  });

  const rows = (of: SqliteStore) => of.collection<Row>('rows');

  it('contain every write acknowledged before the copy and a prefix of later writes, in a valid store', async () => {
    const text = 'x'.repeat(400);
    const insert = (n: number): Promise<void> => rows(store).insert({ id: String(n).padStart(8, '0'), n, text });
    for (let n = 0; n < 4_000; n += 200) await Promise.all(Array.from({ length: 200 }, (_, i) => insert(n + i)));
    const copying = new AbortController();
    let written = 4_000;
    const writing = (async () => {
      while (!copying.signal.aborted) await insert(written++);
    })();
    const to = join(folder, 'b.db');
    await copyStore(join(folder, 'a.db'), to);
    copying.abort();
    await writing;
    const driver = openDriver(to);
    expect(driver.prepare('PRAGMA integrity_check').all([])).to.deep.equal([['ok']]);
    driver.close();
    const copy = new SqliteStore({ path: to });
    await copy.connect();
    const count = await rows(copy).count();
    expect(count).to.be.within(4_000, written);
    // One after the other they were written: without a gap they are a moment.
    expect(await rows(copy).count({ n: { lt: count } })).to.equal(count);
    expect(
      (await rows(copy).find({ filter: { text: { contains: 'xxx' }, n: { gte: count - 3 } } })).items,
    ).to.have.length(3);
    await copy.close();
  });

  it('do not overwrite a file, and create no store where none exists', async () => {
    expect((await getRejection(copyStore(join(folder, 'none.db'), join(folder, 'c.db')))).message).to.include('ENOENT');
    expect(await stat(join(folder, 'none.db')).catch((error: { code: string }) => error.code)).to.equal('ENOENT');
  });

  it('list the collections of documents, without internal tables of the engine', async () => {
    expect(await store.listCollections()).to.deep.equal(['rows']);
    await store.collection('others').insert({ id: 'a' });
    expect(await store.listCollections()).to.deep.equal(['others', 'rows']);
  });
});
