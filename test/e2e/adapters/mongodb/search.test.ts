/**
 * Search on MongoDB: what a document carries, what others see of it, and documents from before that
 * are filled in steps.
 */
import { expect } from 'chai';
import { MongoClient, type Collection as Driver } from 'mongodb';
import { findCandidateIds } from '../../../../adapters/mongodb/candidates.js';
import { parseTrigramField, toTrigramField, extractValueTrigrams } from '../../../../adapters/mongodb/trigrams.js';
import { parseDatabaseName, MongoStore } from '../../../../adapters/mongodb/store.js';
import type { MongoDoc } from '../../../../adapters/mongodb/translate.js';
import type { CollectionSpec, Doc, Filter } from '../../../../ports/store/index.js';
import { findMongoUrl, NO_MONGODB_MESSAGE } from '../../../support/mongo/server.js';

interface Row extends Doc {
  at: number;
  text: string | null;
}
const SPEC: CollectionSpec = {
  name: 'rows',
  indexes: [{ fields: ['at'] }, { fields: ['ref'], unique: true }],
  values: ['tags'],
  search: ['text'],
};
const KNOWN = { texts: ['text'], leading: new Set(['_id', 'at', 'ref', '~text', 'tags']) };

describe('mongodb: search', function () {
  let url = '';
  let client: MongoClient;
  let driver: Driver<MongoDoc>;
  before(async function () {
    const server = await findMongoUrl();
    if (server === null) {
      process.stdout.write(`  ${NO_MONGODB_MESSAGE}\n`);
      this.skip();
    }
    const own = new URL(server);
    own.pathname = `/aos_lookups_${process.pid}`;
    url = own.href;
    client = await new MongoClient(url).connect();
    driver = client.db(parseDatabaseName(url)).collection<MongoDoc>('rows');
  });
  beforeEach(() => client.db(parseDatabaseName(url)).dropDatabase());
  after(async () => {
    if (url === '') return;
    await client.db(parseDatabaseName(url)).dropDatabase();
    await client.close();
  });

  const opened = async (): Promise<MongoStore> => {
    const store = new MongoStore({ url });
    await store.connect();
    return store;
  };
  const gramsIn = async (id: string): Promise<unknown> => (await driver.findOne({ _id: id }))?.['~text'];
  const filled = async (n: number): Promise<void> => {
    while ((await driver.countDocuments({ '~text': { $ne: null } })) < n)
      await new Promise((resolve) => setTimeout(resolve, 10));
  };

  it('stores trigrams in a document without exposing them', async () => {
    const store = await opened();
    await store.ensure([SPEC]);
    const rows = store.collection<Row>('rows');
    await rows.insert({ id: 'a', at: 1, text: 'needle in hay' });
    await rows.bulk([{ insert: { id: 'b', at: 2, text: null } }]);
    expect(await gramsIn('a')).to.deep.equal(extractValueTrigrams('needle in hay'));
    expect(await gramsIn('b')).to.deep.equal([]);
    expect(await rows.get('a')).to.deep.equal({ id: 'a', at: 1, text: 'needle in hay' });
    expect((await rows.find({ filter: { text: { contains: 'eedl' } } })).items).to.deep.equal([await rows.get('a')]);
    const changed = await rows.change({ text: { contains: 'hay' } }, { set: { text: 'straw' } });
    expect(changed?.doc).to.deep.equal({ id: 'a', at: 1, text: 'straw' });
    expect(await gramsIn('a')).to.deep.equal(extractValueTrigrams('straw'));
    await rows.change({ id: 'a' }, { inc: { at: 1 } });
    expect(await gramsIn('a')).to.deep.equal(extractValueTrigrams('straw'));
    await rows.changeMany({ id: 'a' }, { unset: ['text'] });
    expect(await gramsIn('a')).to.deep.equal([]);
    await rows.change({ id: 'c' }, { set: { at: 3, text: 'made by an upsert' } }, { upsert: true });
    expect(await gramsIn('c')).to.deep.equal(extractValueTrigrams('made by an upsert'));
    await store.close();
  });

  it('indexes existing documents in batches from any process, and returns complete results meanwhile', async () => {
    const first = await opened();
    const before = first.collection<Row>('rows');
    await before.bulk(
      Array.from({ length: 900 }, (_, i) => ({
        insert: { id: `r${i}`, at: i, text: i === 899 ? null : `row ${i} of it` },
      })),
    );
    await first.ensure([SPEC]);
    expect(await before.count({ text: { contains: 'row 898 ' } })).to.equal(1);
    for (let i = 0; i < 10; i++) expect(await before.count({ text: { contains: 'of it' } })).to.equal(899);
    await first.close();
    const second = await opened();
    const rows = second.collection<Row>('rows');
    expect(await rows.count({ text: { contains: 'row 77 ' } })).to.equal(1);
    await rows.change({ id: 'r77' }, { set: { text: 'changed' } });
    await filled(900);
    expect(await gramsIn('r77')).to.deep.equal(extractValueTrigrams('changed'));
    expect(await gramsIn('r5')).to.deep.equal(extractValueTrigrams('row 5 of it'));
    expect(await rows.count({ text: { contains: 'row 77 ' } })).to.equal(0);
    await second.close();
  });

  it('finds few matches by their rarest trigram, and scans for many', async () => {
    const store = await opened();
    await store.ensure([SPEC]);
    const rows = store.collection<Row & { ref: string }>('rows');
    for (let i = 0; i < 2_400; i += 600)
      await rows.bulk(
        Array.from({ length: 600 }, (_, k) => ({
          insert: { id: `r${i + k}`, at: i, text: `order ${i + k}`, ref: `ref-${i + k}` },
        })),
      );
    const candidates = (filter: Filter): Promise<string[] | null> => findCandidateIds(driver, KNOWN, filter);
    expect(await candidates({ text: { contains: 'order 2399' } }))
      .to.include('r2399')
      .and.have.length.below(30);
    expect(await candidates({ text: { contains: 'nowhere' } })).to.deep.equal([]);
    expect(await candidates({ text: { contains: 'order' } })).to.equal(null);
    expect(await candidates({ text: { contains: 'or' } })).to.equal(null);
    expect(await candidates({ at: 5 })).to.equal(null);
    expect(await candidates({ or: [{ text: { contains: 'nowhere' } }, { ref: 'ref-7' }] })).to.deep.equal(['r7']);
    expect(await candidates({ or: [{ text: { contains: 'nowhere' } }, { other: 'x' }] })).to.equal(null);
    await store.close();
  });

  it('translates between fields and paths in both directions', () => {
    for (const path of ['text', 'o.s', 'a_b.c1.d']) expect(parseTrigramField(toTrigramField(path))).to.equal(path);
  });
});
