/**
 * The commands that MongoDB gets: what comes at once travels together, and much is written in
 * steps.
 */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { parseDatabaseName, MongoStore } from '../../../../adapters/mongodb/store.js';
import type { Collection, StoreConflict } from '../../../../ports/store/index.js';
import { CommandCounter } from '../../../support/mongo/command-counter.js';
import { findMongoUrl } from '../../../support/mongo/server.js';

interface Row {
  id: string;
  n: number;
  kind?: string;
}

describe('mongodb: command batching', function () {
  let server: string;
  let counter: CommandCounter;
  let store: MongoStore;
  let rows: Collection<Row>;
  let url: URL;
  before(async function () {
    server = (await findMongoUrl()) ?? this.skip();
    url = new URL(server);
    url.pathname = `/aos_commands_${process.pid}`;
    counter = await CommandCounter.startBefore({ host: url.hostname, port: Number(url.port) });
    const near = new URL(url);
    near.host = `127.0.0.1:${counter.port}`;
    near.searchParams.set('directConnection', 'true');
    store = new MongoStore({ url: near.href });
    await store.connect();
  });
  after(async () => {
    await store?.close();
    await counter?.close();
    if (server === undefined) return;
    const client = await new MongoClient(url.href).connect();
    await client.db(parseDatabaseName(url.href)).dropDatabase();
    await client.close();
  });

  let made = 0;
  beforeEach(async () => {
    rows = store.collection<Row>(`rows_${(made += 1)}`);
    await rows.insert({ id: 'a', n: 0 });
    counter.takeCommands();
  });
  const names = (): string[] => counter.takeCommands().map(({ name }) => name);

  it('batches concurrent inserts, and reports each conflict to its caller', async () => {
    const ids = ['b', 'a', 'c', 'd', 'c'];
    const settled = await Promise.allSettled(ids.map((id, n) => rows.insert({ id, n })));
    expect(names()).to.deep.equal(['insert']);
    const rejected = settled.map((one) => (one.status === 'rejected' ? (one.reason as StoreConflict).index : null));
    expect(rejected).to.deep.equal([null, 'id', null, null, 'id']);
    expect((await rows.find()).items).to.deep.equal([
      { id: 'a', n: 0 },
      { id: 'b', n: 0 },
      { id: 'c', n: 2 },
      { id: 'd', n: 3 },
    ]);
  });

  it('batches concurrent reads by id, and returns a separate copy to each caller', async () => {
    const [one, none, same] = await Promise.all([rows.get('a'), rows.get('x'), rows.get('a')]);
    expect(names()).to.deep.equal(['find']);
    expect([one, none, same]).to.deep.equal([{ id: 'a', n: 0 }, null, { id: 'a', n: 0 }]);
    expect(one).not.to.equal(same);
  });

  it('batches concurrent puts, and the later of two puts wins', async () => {
    const done = await rows.bulk([
      { put: { id: 'a', n: 1 } },
      { put: { id: 'b', n: 2 } },
      { put: { id: 'b', n: 3 } },
      { insert: { id: 'c', n: 4 } },
      { insert: { id: 'c', n: 5 } },
    ]);
    expect(names().toSorted()).to.deep.equal(['insert', 'update']);
    expect(done).to.deep.equal([{ n: 1 }, { n: 1 }, { n: 1 }, { n: 1 }, { conflict: 'id' }]);
    expect((await rows.find()).items.map(({ n }) => n)).to.deep.equal([1, 3, 4]);
  });

  it('sends a single command for an upsert by id, including when it inserts the document', async () => {
    const update = { setOnInsert: { kind: 'new' }, inc: { n: 1 } };
    const answers = [];
    for (const id of ['a', 'b']) answers.push(await rows.change({ id }, update, { upsert: true }));
    expect(names()).to.deep.equal(['findAndModify', 'findAndModify']);
    expect(answers).to.deep.equal([
      { doc: { id: 'a', n: 1 }, created: false },
      { doc: { id: 'b', kind: 'new', n: 1 }, created: true },
    ]);
  });

  it('sends a single command for a change of documents by ids with a filter', async () => {
    await rows.bulk(['b', 'c', 'd'].map((id, n) => ({ insert: { id, n } })));
    counter.takeCommands();
    expect(await rows.changeMany({ id: { in: ['a', 'b', 'c', 'x', 'c'] }, n: { lt: 1 } }, { inc: { n: 5 } })).to.equal(
      2,
    );
    expect(names()).to.deep.equal(['update']);
    expect((await rows.find()).items.map(({ n }) => n)).to.deep.equal([5, 5, 1, 2]);
  });

  it('sends no command for filters that cannot match', async () => {
    expect(await rows.find({ filter: { n: { gte: 0 }, id: { in: [] } } })).to.deep.equal({ items: [], next: null });
    expect(await rows.changeMany({ kind: { in: [] } }, { set: { n: 1 } })).to.equal(0);
    expect(await rows.remove({ n: 0, kind: { in: [] } })).to.equal(0);
    expect(names()).to.deep.equal([]);
  });

  it('changes very many documents in batches of a thousand, and writes each document once', async () => {
    const docs = Array.from({ length: 2_499 }, (_, i) => ({ id: `b${i}`, n: 0 }));
    await rows.bulk(docs.map((insert) => ({ insert })));
    counter.takeCommands();
    expect(await rows.changeMany({ n: { gte: 0 } }, { inc: { n: 1 } })).to.equal(2_500);
    expect(names()).to.deep.equal(['find', 'update', 'find', 'update', 'find', 'update']);
    expect(await rows.groupCount('n')).to.deep.equal([{ key: 1, n: 2_500 }]);
    counter.takeCommands();
    expect(await rows.remove({ n: 1 }, 1_200)).to.equal(1_200);
    expect(names()).to.deep.equal(['find', 'delete', 'find', 'delete']);
    expect(await rows.remove({ n: 1 })).to.equal(1_300);
    expect(await rows.count()).to.equal(0);
  });
});
