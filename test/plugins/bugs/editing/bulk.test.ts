/** One change for many items (contract 20, endpoints: `POST /bugs/bulk`). */
import { expect } from 'chai';
import { buildBugRoutes } from '../../../../plugins/bugs/http/routes.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Collection } from '../../../../ports/store/index.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import type { ItemDoc } from '../../../../plugins/bugs/item/model.js';
import { NO_LIMITS, TestServer, type Asked } from '../../../adapters/hapi/support.js';
import { BASE, httpOf, MANAGE, OTHER, READ, type Ask } from '../http.js';
import {
  codeOf,
  ENGINES,
  ensureCollections,
  itemIn,
  MANAGER,
  memoryFixture,
  report,
  settled,
  shown,
  fixtureOn,
  type Fixture,
} from '../fixture.js';
import { useStore } from '../../../support/stores.js';

interface Result {
  id: string;
  ref?: string;
  ok: boolean;
  error?: { code: string; message: string; fields?: Record<string, string>; claim?: { agent: string } };
}
const resultsOf = (answer: Asked): Result[] => answer.body['results'] as unknown as Result[];
const codesOf = (answer: Asked): (string | null)[] => resultsOf(answer).map(({ error }) => error?.code ?? null);
const WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
/** Titles that grouping does not take for the same thing. */
const titled = (i: number): string =>
  String(i)
    .replace(/\d/g, (digit) => `${WORDS[Number(digit)]} `)
    .trim();

for (const engine of ENGINES) {
  describe(`bugs: bulk on ${engine.name}`, function () {
    let fixture: Fixture;
    let ask: Ask;
    useStore(
      engine,
      async (store) => {
        fixture = fixtureOn(store);
        ask = await httpOf(fixture);
      },
      { end: () => settled(fixture), once: true },
    );
    const bulk = (body: object) => ask('POST', '/bugs/bulk', body);

    it('returns 200 when all items, given by id or ref, are changed', async () => {
      const ids = [
        await itemIn(fixture, 'open'),
        await itemIn(fixture, 'needs_info'),
        await itemIn(fixture, 'in_progress'),
      ];
      const { ref } = await shown(fixture, ids[1] as string);
      const before = await shown(fixture, ids[0] as string);
      fixture.clock.advance(3_600_000);
      const set = { status: 'resolved', resolved_in_build: '1.0', tags: ['swept'], severity: 'high' };
      const answer = await bulk({ ids: [ids[0], ref, ids[2]], set: { ...set, unknown: 1 }, unknown: 1 });
      expect(answer.status).to.equal(200);
      expect(answer.body['updated']).to.equal(3);
      expect(resultsOf(answer).map(({ id, ok }) => [id, ok])).to.deep.equal(ids.map((id) => [id, true]));
      for (const id of ids) {
        const item = await shown(fixture, id);
        expect(item).to.include({ status: 'resolved', resolved_in_build: '1.0', severity: 'high' });
        expect(item).to.include({ severity_locked: true, claim: null });
        expect(item.tags).to.deep.equal(['swept']);
        expect(item.updated_at > before.updated_at).to.equal(true);
      }
    });

    it('returns 207 when some items fail, and changes the others', async () => {
      const [open, closed, target] = [
        await itemIn(fixture, 'open'),
        await itemIn(fixture, 'closed'),
        await itemIn(fixture, 'open'),
      ];
      const before = await shown(fixture, closed);
      const answer = await bulk({
        ids: [open, closed, 'alpha-9999', open],
        set: { status: 'needs_info', title: 'Asked' },
      });
      expect([answer.status, answer.body['updated']]).to.deep.equal([207, 1]);
      expect(codesOf(answer)).to.deep.equal([null, 'invalid_transition', 'not_found']);
      expect(resultsOf(answer)[2]?.id).to.equal('alpha-9999');
      expect(await shown(fixture, open)).to.include({ status: 'needs_info', title: 'Asked' });
      expect(await shown(fixture, closed)).to.deep.equal(before);
      const doubles = await bulk({ ids: [open, target], set: { status: 'duplicate', duplicate_of: target } });
      expect([doubles.status, ...codesOf(doubles)]).to.deep.equal([207, null, 'validation_failed']);
      expect(await shown(fixture, open)).to.include({ status: 'duplicate', duplicate_of: target });
    });

    it('accepts a filter with the count that the caller saw', async () => {
      const tag = 'counted';
      const ids: string[] = [];
      for (let i = 0; i < 5; i++)
        ids.push((await fixture.bugs.record(report({ title: `${titled(i)} ${tag}`, tags: [tag] }))).id);
      const set = { status: 'wont_fix', reason: 'too many' };
      const wrong = await bulk({ filter: { tag }, expected_count: 4, set });
      expect([wrong.status, wrong.code, wrong.body['error']?.['count']]).to.deep.equal([409, 'conflict', 5]);
      for (const id of ids) expect(await shown(fixture, id)).to.include({ status: 'open', rev: 1 });
      const right = await bulk({
        filter: { tag: [tag], status: ['open', 'needs_info'], muted: false },
        expected_count: 5,
        set,
      });
      expect([right.status, right.body['updated']]).to.deep.equal([200, 5]);
      expect(resultsOf(right).map(({ id }) => id)).to.have.members(ids);
      for (const id of ids) expect(await shown(fixture, id)).to.include({ status: 'wont_fix', reason: 'too many' });
      const none = await bulk({ filter: { tag, status: 'open' }, expected_count: 0, set });
      expect([none.status, none.body['updated'], resultsOf(none)]).to.deep.equal([200, 0, []]);
    });

    it('respects leases, with a token per item', async () => {
      const lease = async (): Promise<{ id: string; ref: string; token: string }> => {
        const id = await itemIn(fixture, 'open');
        const { body } = await ask('POST', `/bugs/${id}/claim`, { agent: 'holder' }, { bearer: OTHER });
        const item = body['item'] as unknown as Item;
        return { id, ref: item.ref, token: body['lease']?.['claim_token'] as unknown as string };
      };
      const [a, b, c, d] = [await lease(), await lease(), await lease(), await lease()];
      const ids = [a.id, b.id, c.id];
      const none = await bulk({ ids, set: { title: 'Mine' } });
      expect([none.status, ...codesOf(none)]).to.deep.equal([
        207,
        'already_claimed',
        'already_claimed',
        'already_claimed',
      ]);
      expect(resultsOf(none)[0]?.error?.claim?.agent).to.equal('holder');
      const one = await bulk({ ids, set: { title: 'Mine', claim_token: a.token } });
      expect([one.status, ...codesOf(one)]).to.deep.equal([207, null, 'lease_lost', 'lease_lost']);
      const claim_tokens = { [a.id]: a.token, [b.ref]: b.token, [c.id]: 'stale', __proto__: { [d.id]: 'x' } };
      const own = await bulk({ ids: [...ids, d.id], set: { status: 'needs_info' }, claim_tokens });
      expect([own.status, ...codesOf(own)]).to.deep.equal([207, null, null, 'lease_lost', 'already_claimed']);
      const forced = await bulk({ ids: [c.id], set: { status: 'open', force: true } });
      expect(codesOf(forced)).to.deep.equal(['reason_required']);
      const reasoned = await bulk({ ids: [c.id], set: { status: 'open', force: true, reason: 'the agent is gone' } });
      expect(reasoned.status).to.equal(200);
      expect((await shown(fixture, c.id)).claim).to.equal(null);
    });

    it('returns 404 when every id is unknown', async () => {
      const answer = await bulk({ ids: ['alpha-9998', '019aa000-0000-7000-8000-000000000000'], set: { title: 'x' } });
      expect([answer.status, answer.code]).to.deep.equal([404, 'not_found']);
    });

    const faulty: [string, object, string][] = [
      ['neither ids nor filter', { set: {} }, 'body'],
      ['both', { ids: ['alpha-1'], filter: {}, expected_count: 1, set: {} }, 'body'],
      ['no ids', { ids: [], set: {} }, 'ids'],
      ['201 ids', { ids: Array.from({ length: 201 }, (_, i) => `alpha-${i}`), set: {} }, 'ids'],
      ['no set', { ids: ['alpha-1'] }, 'set'],
      ['no count', { filter: { status: 'open' }, set: {} }, 'expected_count'],
      ['a count of more than 1,000', { filter: {}, expected_count: 1001, set: {} }, 'expected_count'],
      ['an unknown filter', { filter: { colour: 'red' }, expected_count: 1, set: {} }, 'filter.colour'],
      ['an unknown value', { filter: { status: 'gone' }, expected_count: 1, set: {} }, 'filter.status'],
      ['text for a boolean', { filter: { muted: 'true' }, expected_count: 1, set: {} }, 'filter.muted'],
      ['an empty filter value', { filter: { status: [] }, expected_count: 1, set: {} }, 'filter.status'],
      ['an unknown status', { ids: ['alpha-1'], set: { status: 'gone' } }, 'set.status'],
      ['a long title', { ids: ['alpha-1'], set: { title: 'x'.repeat(201) } }, 'set.title'],
      ['a duplicate of nothing', { ids: ['alpha-1'], set: { status: 'duplicate' } }, 'set.duplicate_of'],
    ];
    for (const [what, body, field] of faulty) {
      it(`rejects ${what}`, async () => {
        const answer = await bulk(body);
        expect([answer.status, answer.code]).to.deep.equal([422, 'validation_failed']);
        expect(answer.fields).to.have.property(field);
      });
    }

    it('rejects wont_fix without a reason', async () => {
      const answer = await bulk({ ids: ['alpha-1'], set: { status: 'wont_fix', reason: ' ' } });
      expect([answer.status, answer.code]).to.deep.equal([422, 'reason_required']);
    });

    it('requires bugtracker:manage', async () => {
      const answer = await ask('POST', '/bugs/bulk', { ids: ['alpha-1'], set: {} }, { bearer: READ });
      expect([answer.status, answer.code]).to.deep.equal([403, 'insufficient_scope']);
    });
  });
}

describe('bugs: bulk', () => {
  it('limits the change to the counted ids: fails those that stop matching, ignores new matches', async () => {
    const store = await ensureCollections(new MemoryStore());
    const plain = fixtureOn(store);
    const ids: string[] = [];
    for (let i = 0; i < 40; i++) ids.push((await plain.bugs.record(report({ title: titled(i) }))).id);
    const late = await itemIn(plain, 'closed', 'Reopened meanwhile');
    let meanwhile: (() => Promise<void>) | null = async () => {
      await plain.edits.edit(ids[39] as string, MANAGER, { status: 'closed' });
      await plain.edits.edit(late, MANAGER, { status: 'open' });
    };
    const fixture = fixtureOn(store, plain.clock, (deps) => {
      const { items } = deps;
      const find: Collection<ItemDoc>['find'] = async (query) => {
        const page = await items.find(query);
        if (query?.filter?.['status'] !== 'open' || page.next !== null) return page;
        await meanwhile?.();
        meanwhile = null;
        return page;
      };
      deps.items = new Proxy(items, {
        get: (target, name) => (name === 'find' ? find : (Reflect.get(target, name) as () => void).bind(target)),
      });
    });
    const answer = await fixture.bulk.applyEdit(
      { filter: { status: ['open'] }, expected_count: 40, set: { status: 'wont_fix', reason: 'old' } },
      MANAGER,
    );
    expect(answer.updated).to.equal(39);
    expect(answer.results.filter(({ ok }) => !ok).map(({ id, error }) => [id, error?.code])).to.deep.equal([
      [ids[39], 'conflict'],
    ]);
    expect((await shown(fixture, late)).status).to.equal('open');
    await settled(fixture);
  });

  it('changes 1,000 items and rejects 1,001', async () => {
    const fixture = await memoryFixture();
    const { id } = await fixture.bugs.record(report());
    await settled(fixture);
    const doc = (await fixture.deps.items.get(id)) as ItemDoc;
    const copies = Array.from({ length: 1000 }, (_, i) => ({ ...doc, id: `${id}-${i}`, ref: `alpha-${i + 2}` }));
    await fixture.deps.items.bulk(copies.map((insert) => ({ insert })));
    const run = (expected_count: number) =>
      fixture.bulk.applyEdit(
        { filter: { project: ['alpha'], status: ['open'] }, expected_count, set: { status: 'closed' } },
        MANAGER,
      );
    expect(await codeOf(run(1000))).to.equal('conflict');
    expect(await fixture.deps.items.count({ status: 'closed' })).to.equal(0);
    expect(await fixture.bulk.count({ status: ['open'] }, MANAGER)).to.equal(1001);
    await fixture.edits.edit('alpha-1', MANAGER, { status: 'closed' });
    const { updated, results } = await run(1000);
    expect([updated, results.length]).to.deep.equal([1000, 1000]);
    await settled(fixture);
    expect(fixture.told.filter(({ event }) => event === 'bug.resolved')).to.have.lengthOf(1001);
  });

  it('leaves items of other projects unchanged', async () => {
    const fixture = await memoryFixture();
    const mine = (await fixture.bugs.record(report({ title: 'Mine' }))).id;
    const theirs = await fixture.bugs.record(report({ title: 'Theirs', project: 'beta' }));
    const caller = { ...MANAGER, project: 'alpha' };
    const set = { title: 'Changed' };
    const { results, updated } = await fixture.bulk.applyEdit({ ids: [mine, theirs.ref], set }, caller);
    expect(updated).to.equal(1);
    expect(results[1]).to.deep.include({ id: theirs.ref, ok: false });
    expect(results[1]).not.to.have.property('ref');
    expect(results[1]?.error?.code).to.equal('not_found');
    const all = await fixture.bulk.applyEdit({ filter: {}, expected_count: 1, set }, caller);
    expect(all.results.map(({ id }) => id)).to.deep.equal([mine]);
    expect(
      await codeOf(fixture.bulk.applyEdit({ filter: { project: ['beta'] }, expected_count: 1, set }, caller)),
    ).to.equal('insufficient_scope');
    expect((await shown(fixture, theirs.id)).title).to.equal('Theirs');
  });

  it('treats items with expired leases as open', async () => {
    const fixture = await memoryFixture();
    await itemIn(fixture, 'in_progress');
    fixture.clock.advance(3_600_000);
    const { updated } = await fixture.bulk.applyEdit(
      { filter: { status: ['open'] }, expected_count: 1, set: { status: 'closed' } },
      MANAGER,
    );
    expect(updated).to.equal(1);
  });

  it('is charged to the bulk rate limit', async () => {
    const fixture = await memoryFixture();
    const id = await itemIn(fixture, 'open');
    const limits = { ...NO_LIMITS, bulk_per_minute: 2 };
    const server = await TestServer.create({ routes: buildBugRoutes(fixture) }, { limits });
    const bulk = () =>
      server.ask('POST', `${BASE}/bugs/bulk`, { bearer: MANAGE, json: { ids: [id], set: { title: 'x' } } });
    expect((await bulk()).status).to.equal(200);
    expect((await bulk()).status).to.equal(200);
    const third = await bulk();
    expect([third.status, third.code]).to.deep.equal([429, 'rate_limited']);
    expect(third.headers).to.have.property('retry-after');
    const patch = await server.ask('PATCH', `${BASE}/bugs/${id}`, { bearer: MANAGE, json: { title: 'y' } });
    expect(patch.status).to.equal(200);
  });
});
