/** Documents that the writer keeps parsed (recent.ts) are those of the file, whatever happens between two changes. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Recent } from '../../../../adapters/sqlite/kept/recent.js';
import { SqliteStore } from '../../../../adapters/sqlite/store.js';
import type { Collection, Doc } from '../../../../ports/store.js';

interface Row extends Doc {
  n: number;
  text?: string;
  tags?: string[];
}

describe('sqlite: recently changed documents', () => {
  let dir: string;
  let store: SqliteStore;
  let rows: Collection<Row>;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-recent-'));
    store = new SqliteStore({ path: join(dir, 'store.db') });
    await store.connect();
    await store.ensure([
      { name: 'rows', indexes: [{ fields: ['n'] }, { fields: ['text'] }], tuning: { indexedLater: ['n'] } },
    ]);
    rows = store.collection<Row>('rows');
    await rows.insert({ id: 'a', n: 1 });
    await rows.change({ id: 'a' }, { inc: { n: 1 } });
  });
  afterEach(async () => {
    await store.close();
    await rm(dir, { recursive: true });
  });

  it('are read again when another process has written', async () => {
    const other = new SqliteStore({ path: join(dir, 'store.db') });
    await other.connect();
    try {
      await other.collection<Row>('rows').change({ id: 'a' }, { set: { text: 'theirs' }, inc: { n: 10 } });
      expect(await rows.change({ id: 'a', text: 'theirs' }, { inc: { n: 1 } })).to.deep.equal({
        doc: { id: 'a', n: 13, text: 'theirs' },
        created: false,
      });
      await other.collection<Row>('rows').remove({ id: 'a' });
      expect(await rows.change({ id: 'a' }, { inc: { n: 1 } })).to.equal(null);
    } finally {
      await other.close();
    }
  });

  it('are unchanged after a failed change', async () => {
    await rows.change({ id: 'a' }, { push: { tags: { each: ['x'] } } });
    const failed = await rows.change({ id: 'a' }, { set: { text: 'half' }, inc: { tags: 1 } }).catch((error) => error);
    expect(failed).to.be.instanceOf(TypeError);
    expect((await rows.change({ id: 'a' }, { inc: { n: 1 } }))?.doc).to.deep.equal({ id: 'a', n: 3, tags: ['x'] });
    expect(await rows.get('a')).to.deep.equal({ id: 'a', n: 3, tags: ['x'] });
  });

  it('are unchanged after a rejected transaction', async () => {
    const refused = await store.transact([
      { collection: 'rows', change: { id: 'a' }, update: { inc: { n: 5 } } },
      { collection: 'rows', change: { id: 'nobody' }, update: { inc: { n: 5 } } },
    ]);
    expect(refused).to.equal(null);
    expect((await rows.change({ id: 'a' }, { inc: { n: 1 } }))?.doc).to.deep.equal({ id: 'a', n: 3 });
  });

  it('include inserted documents, and not those whose insert failed', async () => {
    await rows.insert({ id: 'b', n: 1, text: 'new' });
    expect((await rows.change({ id: 'b', text: 'new' }, { inc: { n: 1 } }))?.doc).to.include({ n: 2 });
    expect((await rows.find({ filter: { n: 2 }, sort: [['n', 'asc']] })).items.map(({ id }) => id)).to.include('b');
    const refused = await store.transact([
      { collection: 'rows', insert: { id: 'c', n: 1 } as Row },
      { collection: 'rows', insert: { id: 'b', n: 9 } as Row },
    ]);
    expect(refused).to.equal(null);
    expect(await rows.change({ id: 'c' }, { inc: { n: 1 } })).to.equal(null);
    expect((await rows.change({ id: 'b' }, { set: { text: 'changed' } }))?.doc).to.include({ n: 2, text: 'changed' });
    expect(await rows.get('b')).to.deep.equal({ id: 'b', n: 2, text: 'changed' });
  });

  it('are dropped with the document, whose id can be used again', async () => {
    expect(await rows.remove({ id: 'a' })).to.equal(1);
    expect(await rows.change({ id: 'a' }, { inc: { n: 1 } })).to.equal(null);
    await rows.insert({ id: 'a', n: 7 });
    expect((await rows.change({ id: 'a' }, { inc: { n: 1 } }))?.doc).to.deep.equal({ id: 'a', n: 8 });
    expect(await rows.changeMany({ n: { gte: 8 } }, { inc: { n: 1 } })).to.equal(1);
    expect((await rows.change({ id: 'a' }, { inc: { n: 1 } }))?.doc).to.deep.equal({ id: 'a', n: 10 });
  });

  it('are marked again once they were settled, so that indexes follow', async () => {
    const found = async (n: number): Promise<string[]> =>
      (await rows.find({ filter: { n }, sort: [['n', 'asc']] })).items.map(({ id }) => id);
    for (let n = 3; n < 6; n++) {
      await rows.change({ id: 'a' }, { inc: { n: 1 } });
      expect(await found(n)).to.deep.equal(['a']);
      // A change by a deferred path settles all marked rows before.
      await rows.change({ n: -1 }, { inc: { n: 1 } });
      expect(await found(n)).to.deep.equal(['a']);
      expect(await found(n - 1)).to.deep.equal([]);
    }
  });

  it('may exceed the size of the cache', async () => {
    const ids = Array.from({ length: 1_500 }, (_, i) => `many${i}`);
    const text = 'x'.repeat(3_000);
    await rows.bulk(ids.map((id) => ({ insert: { id, n: 0, text } })));
    for (let round = 0; round < 2; round++)
      await rows.bulk(ids.map((id) => ({ change: { id }, update: { inc: { n: 1 } } })));
    expect(await rows.count({ n: 2, id: { prefix: 'many' } })).to.equal(1_500);
  });
});

describe('sqlite: the size of the cache of recently changed documents', () => {
  it('counts documents by their current size', () => {
    const recent = new Recent();
    const ids = Array.from({ length: 1_000 }, (_, i) => String(i));
    for (const id of ids) recent.set('rows', id, { rowid: 1, doc: { id }, length: 300, marked: null }, 300);
    const kept = (): number => ids.filter((id) => recent.get('rows', id) !== undefined).length;
    expect(kept()).to.equal(1_000);
    for (const id of ids) {
      const known = recent.get('rows', id);
      if (known !== undefined) recent.set('rows', id, known, 16_000);
    }
    // Two generations of one and a half million characters, and the last of each.
    expect(kept()).to.be.within(90, 200);
  });
});
