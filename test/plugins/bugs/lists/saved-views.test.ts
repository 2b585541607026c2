/** Saved views: an account's own, and what it shares. */
import { expect } from 'chai';
import { MAX_VIEWS, getViewer, type Viewer } from '../../../../plugins/bugs/lists/saved-views.js';
import { codeOf, ENGINES, memoryFixture, fixtureOn, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const ANN: Viewer = { id: 'user:ann', name: 'ann', admin: false };
const BOB: Viewer = { id: 'user:bob', name: 'bob', admin: false };
const ROOT: Viewer = { id: 'user:root', name: 'root', admin: true };

for (const engine of ENGINES) {
  describe(`bugs: saved views on ${engine.name}`, function () {
    let fixture: Fixture;
    useStore(engine, (store) => (fixture = fixtureOn(store)));
    const names = async (viewer: Viewer): Promise<string[]> =>
      (await fixture.views.list(viewer)).map(({ name, mine }) => (mine ? name : `${name} (theirs)`));

    it('are private to the account until it shares them', async () => {
      await fixture.views.save(ANN, { name: 'Mine', query: { status: 'open' } });
      await fixture.views.save(ANN, { name: 'Crashes', shared: true, query: { type: ['error'], sort: 'hit_count' } });
      await fixture.views.save(BOB, { name: 'Bob’s', query: { muted: 'true', tag: ['a', 'b'] } });
      expect(await names(ANN)).to.deep.equal(['Crashes', 'Mine']);
      expect(await names(BOB)).to.deep.equal(['Bob’s', 'Crashes (theirs)']);
      const [own] = await fixture.views.list(BOB);
      expect(own?.query).to.deep.equal({ muted: [true], tag: ['a', 'b'] });
      expect(await fixture.views.find(own?.id ?? '', ANN)).to.equal(null);
    });

    it('are replaced under the same name in any case', async () => {
      const first = await fixture.views.save(ANN, { name: 'Mine', shared: true, query: { status: 'open' } });
      const second = await fixture.views.save(ANN, { name: ' MINE ', query: { status: ['closed'] } });
      expect(second.id).to.equal(first.id);
      expect(await fixture.views.list(BOB)).to.deep.equal([]);
      expect((await fixture.views.list(ANN)).map(({ name, query }) => [name, query])).to.deep.equal([
        ['MINE', { status: ['closed'] }],
      ]);
    });

    it('can be deleted by their owner, and shared ones by an administrator', async () => {
      const mine = await fixture.views.save(ANN, { name: 'Mine', query: {} });
      const shared = await fixture.views.save(ANN, { name: 'Shared', shared: true, query: {} });
      expect(await codeOf(fixture.views.remove(mine.id, ROOT))).to.equal('not_found');
      expect(await codeOf(fixture.views.remove(shared.id, BOB))).to.equal('insufficient_scope');
      await fixture.views.remove(shared.id, ROOT);
      await fixture.views.remove(mine.id, ANN);
      expect(await codeOf(fixture.views.remove(mine.id, ANN))).to.equal('not_found');
      expect(await fixture.views.list(ANN)).to.deep.equal([]);
    });
  });
}

describe('bugs: saved views', () => {
  it('accept only parameters of the list', async () => {
    const fixture = await memoryFixture();
    const rejected: object[] = [
      { colour: 'red' },
      { status: 'gone' },
      { muted: 'maybe' },
      { sort: 'title' },
      { q: 'x'.repeat(501) },
      { status: [] },
    ];
    for (const query of rejected) {
      expect(await codeOf(fixture.views.save(ANN, { name: 'x', query })), JSON.stringify(query)).to.equal(
        'validation_failed',
      );
    }
    for (const name of ['', '  ', 'x'.repeat(81)])
      expect(await codeOf(fixture.views.save(ANN, { name, query: {} }))).to.equal('validation_failed');
  });

  it('are limited in number', async () => {
    const fixture = await memoryFixture();
    for (let i = 0; i < MAX_VIEWS; i++) await fixture.views.save(ANN, { name: `View ${i}`, query: {} });
    expect(await codeOf(fixture.views.save(ANN, { name: 'One more', query: {} }))).to.equal('validation_failed');
    await fixture.views.save(ANN, { name: 'View 1', shared: true, query: { q: 'again' } });
    await fixture.views.save(BOB, { name: 'Another account', query: {} });
  });

  it('belong to the signed-in user', () => {
    const session = { kind: 'session', session_id: 's', account_id: 'u1', username: 'ann', role: 'admin' } as const;
    expect(getViewer(session)).to.deep.equal({ id: 'user:u1', name: 'ann', admin: true });
    expect(getViewer({ ...session, role: 'member' }).admin).to.equal(false);
  });
});
