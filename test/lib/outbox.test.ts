/** The one outbox: order, crash and failed receivers, over a collection of the memory store. */
import { expect } from 'chai';
import { MemoryStore } from '../../adapters/memory/store.js';
import { Outbox, formatOutboxPosition, type OutboxDelivery } from '../../lib/outbox.js';
import type { Collection } from '../../ports/store/index.js';

interface Entry {
  id: string;
  at: string;
}
interface Row {
  id: string;
  outbox: Entry[];
  outbox_at: string | null;
}

const NOW = Date.parse('2026-11-24T12:00:00.000Z');
const entry = (id: string, seconds = 0): Entry => ({ id, at: new Date(NOW - seconds * 1000).toISOString() });
const row = (id: string, ...outbox: Entry[]): Row => ({
  id,
  outbox,
  outbox_at: outbox.length === 0 ? null : formatOutboxPosition(outbox.at(-1) as Entry),
});

describe('lib: outbox', () => {
  let rows: Collection<Row>;
  let reported: string[];
  let failures: string[];
  let deaf: ReadonlySet<string>;
  const outbox = (parts: Partial<OutboxDelivery<Row, Entry>> = {}): Outbox<Row, Entry> =>
    new Outbox<Row, Entry>({
      rows,
      deliver: async (_doc, { id }) => {
        if (id === 'broken') throw new Error('no receiver');
        if (deaf.has(id)) return false;
        reported.push(id);
        return true;
      },
      inOrder: false,
      now: () => NOW,
      onFailed: (_error, id) => failures.push(id),
      ...parts,
    });
  const written = async (doc: Row): Promise<Row> => {
    await rows.insert(doc);
    return doc;
  };
  beforeEach(async () => {
    const store = new MemoryStore();
    await store.ensure([{ name: 'rows', indexes: [{ fields: ['outbox_at'] }] }]);
    rows = store.collection<Row>('rows');
    [reported, failures, deaf] = [[], [], new Set()];
  });

  it('delivers entries, and removes them from the document', async () => {
    const box = outbox();
    const doc = await written(row('a', entry('1'), entry('2')));
    box.send(doc, doc.outbox);
    await box.drain();
    expect(reported).to.deep.equal(['1', '2']);
    expect(await rows.get('a')).to.deep.equal(row('a'));
  });

  it('batches consecutive deliveries, and updates their documents in one write', async () => {
    let writes = 0;
    const counted = new Proxy(rows, {
      get: (target, name) =>
        name === 'changeMany'
          ? (...args: Parameters<Collection<Row>['changeMany']>) => ((writes += 1), target.changeMany(...args))
          : (Reflect.get(target, name) as () => unknown).bind(target),
    });
    const box = outbox({ rows: counted, gatherMs: 60_000 });
    const docs = [];
    for (const id of ['a', 'b', 'c', 'd']) docs.push(await written(row(id, entry(id))));
    const [first, ...others] = docs;
    if (first !== undefined) box.send(first, first.outbox);
    while ((await rows.get('a'))?.outbox_at !== null) await new Promise((resolve) => setImmediate(resolve));
    for (const doc of others) box.send(doc, doc.outbox);
    expect([reported, writes]).to.deep.equal([['a'], 1]);
    // One that got another entry meanwhile keeps it.
    const joined = {
      push: { outbox: { each: [{ ...entry('e') }] } },
      set: { outbox_at: formatOutboxPosition(entry('e')) },
    };
    await rows.change({ id: 'c' }, joined);
    await box.drain();
    expect([reported, writes]).to.deep.equal([['a', 'b', 'c', 'd'], 2]);
    expect((await rows.find()).items).to.deep.equal([row('a'), row('b'), row('c', entry('e')), row('d')]);
  });

  it('preserves an entry that was added concurrently', async () => {
    const box = outbox();
    const doc = await written(row('a', entry('1')));
    await rows.change(
      { id: 'a' },
      { push: { outbox: { each: [{ ...entry('2') }] } }, set: { outbox_at: formatOutboxPosition(entry('2')) } },
    );
    box.send(doc, doc.outbox);
    await box.drain();
    expect(await rows.get('a')).to.deep.equal(row('a', entry('2')));
  });

  for (const inOrder of [true, false]) {
    it(`retains a failed entry; ${inOrder ? 'later ones wait' : 'later ones are delivered'}`, async () => {
      deaf = new Set(['1']);
      const box = outbox({ inOrder });
      const doc = await written(row('a', entry('1'), entry('2')));
      box.send(doc, doc.outbox);
      await box.drain();
      expect(reported).to.deep.equal(inOrder ? [] : ['2']);
      expect((await rows.get('a'))?.outbox.map(({ id }) => id)).to.deep.equal(inOrder ? ['1', '2'] : ['1']);
    });
  }

  it('logs a failure, which the job retries', async () => {
    const box = outbox();
    const doc = await written(row('a', entry('broken', 60)));
    box.send(doc, doc.outbox);
    await box.drain();
    expect(failures).to.deep.equal(['a']);
    expect(await box.getOldestAge()).to.equal(60);
    await rows.change({ id: 'a' }, { set: { outbox: [{ ...entry('repaired', 60) }] } });
    expect(await box.reconcile()).to.equal(1);
    expect(reported).to.deep.equal(['repaired']);
    expect([await box.reconcile(), await box.getOldestAge()]).to.deep.equal([0, 0]);
  });

  it('finds entries left by a crash at a time when the clock ran ahead', async () => {
    await written(row('a', entry('ahead', -3_600)));
    expect(await outbox().reconcile()).to.equal(1);
    expect(reported).to.deep.equal(['ahead']);
  });

  it('finds entries left by a crash, except entries being delivered', async () => {
    const placed: string[] = [];
    const box = outbox({ place: async (_doc, entries) => void placed.push(...entries.map(({ id }) => id)) });
    for (let i = 0; i < 250; i++) await rows.insert(row(`old-${i}`, entry(`${i}`, 60)));
    await rows.insert(row('new', entry('new')));
    await rows.insert({ ...row('half'), outbox_at: formatOutboxPosition(entry('gone', 60)) });
    expect(await box.reconcile()).to.equal(251);
    expect(reported).to.have.lengthOf(250).and.not.to.include('new');
    expect(placed).to.have.members(reported);
    expect(await rows.count({ outbox_at: { gt: '' } })).to.equal(1);
  });

  it('delivers the entries of one document in order, each once', async () => {
    const box = outbox({ inOrder: true });
    await rows.insert(row('a', entry('1'), entry('2')));
    await Promise.all([box.sendAll('a'), box.sendAll('a'), box.sendAll('a')]);
    expect(reported).to.deep.equal(['1', '2']);
  });

  it('ignores a document that was deleted', async () => {
    const box = outbox({ onEmptied: async ({ id }) => (await rows.remove({ id })) > 0 });
    const doc = await written(row('a', entry('1')));
    box.send(doc, doc.outbox);
    await box.drain();
    expect(await rows.get('a')).to.equal(null);
  });
});
