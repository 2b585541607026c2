/** A file whose tables another version laid out: it is refused and stays as it is. */
import { expect } from 'chai';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDriver } from '../../../adapters/sqlite/driver/open.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { getRejection } from '../../kit/contracts/fixture.js';

describe('sqlite: table layouts', () => {
  let path = '';
  beforeEach(async () => {
    path = join(await mkdtemp(join(tmpdir(), 'aos-layouts-')), 'aos.db');
  });
  afterEach(() => rm(join(path, '..'), { recursive: true, force: true }));

  for (const threads of [true, false]) {
    it(`rejects tables with another layout, ${threads ? 'with' : 'without'} threads`, async () => {
      const driver = openDriver(path);
      driver.exec('PRAGMA journal_mode = WAL');
      driver.exec('CREATE TABLE rows (id NOT NULL PRIMARY KEY, body TEXT NOT NULL)');
      driver.exec(`INSERT INTO rows VALUES ('a', '{"id":"a"}')`);
      driver.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      driver.close();
      const before = await readFile(path);
      const store = new SqliteStore({ path, threads });
      const opened = store.connect().then(() => store.collection('rows').insert({ id: 'b' }));
      expect(String(await getRejection(opened)))
        .to.include(`cannot open ${path}`)
        .and.include('layout 0');
      await store.close();
      expect(await readFile(path)).to.deep.equal(before);
    });
  }

  it('opens a new file, and a file with its own layout', async () => {
    for (const id of ['a', 'b']) {
      const store = new SqliteStore({ path });
      await store.connect();
      await store.collection('rows').insert({ id });
      await store.close();
    }
  });
});
