/**
 * Damage on the disk: one call fails and names the row, the process lives, and everything else is
 * served.
 */
import { expect } from 'chai';
import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../../../adapters/sqlite/connection/connection.js';
import { SqliteStore } from '../../../adapters/sqlite/store.js';
import { iterateItems } from '../../../lib/paging.js';
import { StoreDamaged, type Collection, type CollectionSpec, type Doc } from '../../../ports/store/index.js';
import { getRejection } from '../../kit/contracts/fixture.js';

interface Row extends Doc {
  n: number;
  kind: string;
  text: string;
  long?: string;
}

const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['n'] }, { fields: ['kind', 'n'] }, { fields: ['text'] }],
  values: ['kind'],
  search: ['text'],
  compressed: ['long'],
};

describe('sqlite: damaged documents', function () {
  let folder = '';
  let path = '';
  let store: SqliteStore;
  let rows: Collection<Row>;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-damage-'));
    path = join(folder, 'aos.db');
    store = await opened();
    rows = store.collection<Row>('rows');
    await store.ensure([SPEC]);
    for (const id of ['a', 'b', 'c']) await rows.insert({ id, n: 1, kind: id, text: `text of ${id}` });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  const opened = async (): Promise<SqliteStore> => {
    const made = new SqliteStore({ path });
    await made.connect();
    return made;
  };
  const harm = (sql: string): void => {
    const connection = new Connection({ path, durability: 'full' });
    connection.driver.exec(sql);
    connection.close();
  };
  /** Puts a byte that begins no character of UTF-8 into the text of `b`. */
  const NO_UTF8 = `UPDATE rows SET body = CAST(substr(body, 1, instr(body, 'text of')) || x'ff' ||
    substr(body, instr(body, 'text of') + 2) AS TEXT) WHERE id = 'b'`;
  const NO_JSON = `UPDATE rows SET body = replace(body, ',"text', ';"text') WHERE id = 'b'`;

  const toldOf = async (call: Promise<unknown>, id: string | null): Promise<Error> => {
    const error = await getRejection(call);
    expect(error).to.be.instanceOf(StoreDamaged);
    expect((error as StoreDamaged).place).to.deep.equal({ collection: 'rows', id });
    return error as Error;
  };
  /** It fails as damage of the document `b`. */
  const reported = async (call: Promise<unknown>): Promise<void> => {
    const error = await toldOf(call, 'b');
    expect(error.message).to.include('the document "b" of rows cannot be read');
  };

  for (const [name, sql] of [
    ['a text that is not UTF-8', NO_UTF8],
    ['a body that is no JSON', NO_JSON],
    ['a body of which nothing is left', `UPDATE rows SET body = '{"broken' WHERE id = 'b'`],
    ['an empty body', `UPDATE rows SET body = '' WHERE id = 'b'`],
  ] as const) {
    it(`${name}: fails only calls that read the document, with its id in the error`, async () => {
      harm(sql);
      await reported(rows.get('b'));
      await reported(rows.find({ sort: [['n', 'asc']] }));
      await reported(rows.find({ filter: { kind: 'b' } }));
      await reported(rows.change({ id: 'b' }, { set: { kind: 'x' } }));
      expect((await rows.get('a'))?.n).to.equal(1);
      expect((await rows.find({ filter: { kind: { in: ['a', 'c'] } } })).items).to.have.length(2);
      const many = ['a', 'b', 'c', 'a'].map((id) => rows.change({ id }, { inc: { n: 1 } }));
      const results = await Promise.allSettled(many);
      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
      expect((await rows.get('a'))?.n).to.equal(3);
    });

    it(`${name}: indexes other documents, and allows the document to be replaced and removed`, async () => {
      harm(sql);
      await rows.change({ id: 'a' }, { inc: { n: 1 } });
      expect(await rows.count({ n: 2 })).to.equal(1);
      await rows.bulk([{ put: { id: 'b', n: 7, kind: 'b', text: 'again' } }]);
      expect((await rows.find({ filter: { text: { contains: 'again' } } })).items).to.have.length(1);
      harm(NO_UTF8.replace('text of', 'again'));
      expect(await rows.remove({ id: 'b' })).to.equal(1);
      expect((await rows.find()).items).to.have.length(2);
    });
  }

  it('skips and reports damaged documents in bulk reads, and returns the others in order', async () => {
    await rows.insert({ id: 'd', n: 1, kind: 'd', text: 'text of d' });
    harm(`UPDATE rows SET body = '{"broken' WHERE id IN ('b', 'c')`);
    for (const limit of [1, 2, 3, 4, 50]) {
      const reported: (string | null)[] = [];
      const found: string[] = [];
      const damaged = ({ place }: StoreDamaged): void => void reported.push(place.id);
      for await (const row of iterateItems(rows, { limit, damaged })) found.push(row.id);
      expect([found, [...new Set(reported)]], String(limit)).to.deep.equal([
        ['a', 'd'],
        ['b', 'c'],
      ]);
    }
    const alone = await rows.find({ filter: { kind: 'b' }, damaged: () => undefined });
    expect(alone).to.deep.equal({ items: [], next: null });
  });

  it('reports damage in compressed fields the same way', async () => {
    await rows.bulk([{ put: { id: 'b', n: 1, kind: 'b', text: 't', long: 'long '.repeat(500) } }]);
    harm(`UPDATE rows SET body = '{"~":"AAAA' || substr(body, 11) WHERE id = 'b'`);
    await reported(rows.get('b'));
    expect(await rows.get('a')).to.include({ id: 'a' });
  });

  it('does not stop a list at a damaged id', async () => {
    harm(`UPDATE rows SET id = CAST(x'62ff' AS TEXT) WHERE id = 'b'`);
    expect((await rows.find({ filter: { kind: 'a' } })).items).to.have.length(1);
    expect(await getRejection(rows.changeMany({}, { inc: { n: 1 } }))).to.be.instanceOf(StoreDamaged);
    await rows.insert({ id: 'd', n: 1, kind: 'd', text: 'd' });
    expect(await rows.get('d')).to.include({ id: 'd' });
  });

  it('returns a stored U+FFFD unchanged', async () => {
    await rows.insert({ id: 'd', n: 1, kind: 'd', text: 'a \ufffd b' });
    expect((await rows.get('d'))?.text).to.equal('a \ufffd b');
    expect((await rows.find({ filter: { kind: 'd' } })).items[0]?.text).to.equal('a \ufffd b');
  });

  it('fails only calls that need a corrupt page, and keeps the process and the store working', async () => {
    const long = 'x'.repeat(900);
    await rows.bulk(
      Array.from({ length: 3_000 }, (_, i) => ({ insert: { id: `r${i}`, n: i, kind: 'k', text: `${i} ${long}` } })),
    );
    harm('PRAGMA wal_checkpoint(TRUNCATE)');
    await store.close();
    // Leaves alone: a page above them takes all documents below it along.
    const beside = new Connection({ path, durability: 'full' });
    const leaves = beside.prepare(`SELECT pageno FROM dbstat WHERE name = 'rows' AND pagetype = 'leaf'`).all([]);
    beside.close();
    const file = await open(path, 'r+');
    for (const [page] of leaves.filter((_, i) => i % 40 === 20))
      await file.write(Buffer.alloc(4096, 0xa5), 0, 4096, (Number(page) - 1) * 4096);
    await file.close();
    store = await opened();
    const again = store.collection<Row>('rows');
    const calls = Array.from({ length: 3_000 }, (_, i) => again.get(`r${i}`));
    const results = await Promise.allSettled([...calls, again.find({ sort: [['n', 'desc']], limit: 1_000 })]);
    const failed = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
    expect(failed.length).to.be.greaterThan(0).and.lessThan(results.length);
    for (const error of failed) expect(error).to.be.instanceOf(StoreDamaged);
    expect(await store.ping()).to.be.a('number');
    const examined = await store.examine();
    expect(examined.ok).to.equal(false);
    expect(examined.damage.length).to.be.greaterThan(1);
  });

  it('finds all damage by a check next to the service', async () => {
    expect(await store.examine()).to.deep.equal({ ok: true, documents: 3, damage: [], more: 0 });
    for (let i = 0; i < 300; i++)
      await rows.insert({ id: `r${i}`, n: i, kind: 'k', text: 'again', long: 'long '.repeat(300) });
    harm(NO_UTF8);
    harm(`UPDATE rows SET body = replace(body, ',"text', ';"text') WHERE id = 'r7'`);
    harm(`UPDATE rows SET body = '{"~":"AAAA' || substr(body, 11) WHERE id = 'r8'`);
    harm(`UPDATE rows SET id = CAST(x'62ff' AS TEXT) WHERE id = 'r9'`);
    harm(`UPDATE rows SET body = replace(body, '"r10"', '"r11"') WHERE id = 'r10'`);
    const found = await store.examine();
    expect(found).to.include({ ok: false, documents: 298, more: 0 });
    expect(found.damage.map((line) => line.split(':')[0])).to.deep.equal([
      'the document "b" of rows',
      'the document "r7" of rows',
      'the document "r8" of rows',
      'row 13 of rows',
      'the document "r10" of rows',
    ]);
    expect(await getRejection(store.examine(AbortSignal.abort(new Error('enough'))))).to.include({ message: 'enough' });
  });

  it('aborts a check that is running, without ending the process', async () => {
    await Promise.all(
      Array.from({ length: 3_000 }, (_, i) => rows.insert({ id: `r${i}`, n: i, kind: 'k', text: 'again', long: 'l' })),
    );
    // Each is met at another step, from the start of its thread to its last table.
    for (let ms = 0; ms < 100; ms += 5) {
      const thrown = await getRejection(
        store.examine(AbortSignal.timeout(ms)).then(() => Promise.reject(new Error('done'))),
      );
      expect(String(thrown)).to.match(/timeout|done/);
    }
    expect(await store.ping()).to.be.a('number');
  });

  it('reports a truncated file and a file that is not a database at startup', async () => {
    harm('PRAGMA wal_checkpoint(TRUNCATE)');
    await store.close();
    const other = join(folder, 'other.db');
    await writeFile(other, 'this is no database '.repeat(500));
    const open = (file: string): Promise<unknown> => getRejection(new SqliteStore({ path: file }).connect());
    expect(String(await open(other)))
      .to.include(`cannot open ${other}`)
      .and.include('not a database');
    await truncate(path, 4096);
    expect(String(await open(path))).to.match(/cannot open .*(malformed|not a database)/);
    store = new SqliteStore({ path: join(folder, 'new.db') });
    await store.connect();
  });
});
