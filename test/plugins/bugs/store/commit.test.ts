/**
 * The same writes and the same marker, on a store with transactions and on one without
 * (store/commit.ts).
 */
import { expect } from 'chai';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { WriteCommitter, type DocumentWrite } from '../../../../plugins/bugs/store/write-committer.js';
import type { KeyDoc, RefDoc } from '../../../../plugins/bugs/item/model.js';
import { projectRoot } from '../../../architecture/tree.js';
import { ensureCollections, fixtureOn, type Fixture } from '../fixture.js';

const ref = (open_at: string | null): RefDoc => ({
  id: 'r',
  project: 'alpha',
  item_id: 'i',
  open_at,
  expires_at: null,
});
const MARKER = { collection: 'refs', open: ref('2026-01-01T00:00:00.000Z'), closed: ref(null) };
const key = (id: string): DocumentWrite => {
  const insert: KeyDoc = { id, project: 'alpha', key: id, item_id: 'i' };
  return { collection: 'keys', insert };
};
const counter = (n: number): DocumentWrite => ({
  collection: 'counters',
  change: { id: 'alpha', n: { lt: n } },
  update: { set: { n } },
  answer: true,
});

for (const isTogether of [true, false]) {
  describe(`bugs: a commit ${isTogether ? 'with' : 'without'} transactions`, () => {
    let fixture: Fixture;
    let commit: WriteCommitter;
    beforeEach(async () => {
      fixture = fixtureOn(await ensureCollections(new MemoryStore()));
      const { deps } = fixture;
      commit = new WriteCommitter(isTogether ? deps.transact : null, (name) => deps[name as 'counters']);
      await fixture.deps.counters.insert({ id: 'alpha', n: 1 });
    });
    const keys = async (): Promise<string[]> => (await fixture.deps.keys.find()).items.map(({ id }) => id);

    it('applies all writes in order, and returns the changed documents', async () => {
      const written = await commit.write([key('a'), counter(2), key('b')]);
      expect(written?.docs).to.deep.equal([null, { id: 'alpha', n: 2 }, null]);
      expect(await keys()).to.deep.equal(['a', 'b']);
    });

    it('returns null when a write is rejected; without transactions earlier writes remain', async () => {
      expect(await commit.write([key('a'), counter(1), key('b')])).to.equal(null);
      expect(await keys()).to.deep.equal(isTogether ? [] : ['a']);
      await commit.write([key('c')]);
      expect(await commit.write([key('d'), key('c')])).to.equal(null);
      expect(await keys()).to.have.members(isTogether ? ['c'] : ['a', 'c', 'd']);
    });

    it('reports whether a related write exists', async () => {
      await commit.write([key('a')]);
      const written = await commit.write([counter(2)], [key('a'), key('b')]);
      expect(written?.beside).to.deep.equal([false, true]);
      expect(await commit.write([counter(3), key('c')], [key('d')])).to.deep.include({ beside: [true] });
      expect(await keys()).to.deep.equal(['a', 'b', 'c', 'd']);
    });

    it('adds a closed marker to the transaction, or inserts an open marker first', async () => {
      const prepared = await commit.prepare([key('a')], MARKER);
      expect(prepared).to.deep.equal(
        isTogether
          ? { along: [key('a'), { collection: 'refs', insert: MARKER.closed }], opened: false }
          : { along: [], opened: true },
      );
      expect(await fixture.deps.refs.get('r')).to.deep.equal(isTogether ? null : MARKER.open);
      expect(await keys()).to.deep.equal(isTogether ? [] : ['a']);
    });

    it('inserts no marker after a rejected write', async () => {
      await commit.write([key('a')]);
      const prepared = await commit.prepare([key('a')], MARKER);
      if (isTogether) expect(await commit.write([...(prepared?.along ?? []), counter(2)])).to.equal(null);
      else expect(prepared).to.equal(null);
      expect(await fixture.deps.refs.get('r')).to.equal(null);
    });
  });
}

it('bugs: only this file checks whether the store supports transactions', async () => {
  const folder = join(projectRoot(), 'plugins', 'bugs');
  const files = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.ts'));
  const asking: string[] = [];
  for (const file of files) if (/\btransact\b/.test(await readFile(join(folder, file), 'utf8'))) asking.push(file);
  expect(asking).to.have.members(['store/write-committer.ts', 'deps.ts', 'plugin.ts']);
});
