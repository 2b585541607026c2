/**
 * Merge and split: where occurrences are counted, through chains, in parallel, over other processes
 * and deaths.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Item, Report } from '../../../../ports/domain/bugs.js';
import type { Collection, Doc } from '../../../../ports/store/index.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { attempt, DEATHS, dying, type Death } from '../dying.js';
import { httpOf, OTHER, type Ask } from '../http.js';
import {
  codeOf,
  ENGINES,
  ensureCollections,
  errorReport,
  MANAGER,
  memoryFixture,
  report,
  settled,
  shown,
  fixtureOn,
  type Fixture,
  twoProcesses,
} from '../fixture.js';

const errorOf = (name: string): Report => errorReport({ exception_class: name, title: name, error_message: name });
const make = async (fixture: Fixture, name: string): Promise<string> => (await fixture.bugs.record(errorOf(name))).id;
/** Which item counts the next report of this name. */
const countedAt = make;
const historyOf = async (fixture: Fixture, id: string): Promise<string[]> => {
  await settled(fixture);
  const page = await fixture.parts.listPart(id, 'activity', { limit: 100 });
  return (page.items as { action: string }[]).map(({ action }) => action).toReversed();
};

for (const engine of ENGINES) {
  describe(`bugs: merge and split on ${engine.name}`, function () {
    let fixture: Fixture;
    let other: Fixture;
    let close: () => Promise<void>;
    beforeEach(async function () {
      ({ fixture, other, close } = await twoProcesses(engine, () => this.skip()));
    });
    afterEach(async function () {
      if (this.currentTest?.isPending() === true) return;
      await close();
    });

    it('counts at the target after a merge, and at the item again after the split', async () => {
      const [a, b] = [await make(fixture, 'A'), await make(fixture, 'B')];
      const merged = await fixture.merging.merge(a, b, MANAGER);
      expect(merged).to.include({ id: a, status: 'duplicate', duplicate_of: b, hit_count: 1 });
      expect(await countedAt(fixture, 'A')).to.equal(b);
      expect(await countedAt(other, 'A')).to.equal(b);
      expect((await shown(fixture, a)).hit_count).to.equal(1);
      expect((await shown(fixture, b)).hit_count).to.equal(3);
      const split = await fixture.merging.split(a, MANAGER);
      expect(split).to.include({ id: a, status: 'open', duplicate_of: null, hit_count: 1 });
      expect(split.reopened_at).to.be.a('string');
      expect(await countedAt(fixture, 'A')).to.equal(a);
      other.clock.advance(2_000);
      expect(await countedAt(other, 'A')).to.equal(a);
      expect(await countedAt(fixture, 'B')).to.equal(b);
      expect(await fixture.deps.moves.count()).to.equal(0);
    });

    it('follows chains of merges, and a split restores exactly the merged keys', async () => {
      const [a, b, c] = [await make(fixture, 'A'), await make(fixture, 'B'), await make(fixture, 'C')];
      await fixture.merging.merge(a, b, MANAGER);
      await fixture.merging.merge(b, c, MANAGER);
      for (const name of ['A', 'B', 'C']) expect(await countedAt(fixture, name)).to.equal(c);
      await fixture.merging.split(b, MANAGER);
      for (const name of ['A', 'B']) expect(await countedAt(fixture, name)).to.equal(b);
      await fixture.merging.merge(b, c, MANAGER);
      await fixture.merging.split(a, MANAGER);
      expect(await countedAt(fixture, 'A')).to.equal(a);
      expect(await countedAt(fixture, 'B')).to.equal(c);
    });

    it('moves every key of an item, including those of features', async () => {
      const bare = await fixture.bugs.record(errorReport({ file_path: null }));
      const adopted = await fixture.bugs.record(errorReport());
      expect(adopted.id).to.equal(bare.id);
      const b = await make(fixture, 'B');
      await fixture.merging.merge(bare.ref, b, MANAGER);
      for (const file_path of [null, 'src/cart.ts']) {
        expect((await fixture.bugs.record(errorReport({ file_path }))).id).to.equal(b);
      }
      await fixture.merging.split(bare.id, MANAGER);
      for (const file_path of [null, 'src/cart.ts']) {
        expect((await fixture.bugs.record(errorReport({ file_path }))).id).to.equal(bare.id);
      }
      const wish = (title: string) => fixture.bugs.record(report({ type: 'feature', title }));
      const [dark, night] = [await wish('Dark mode'), await wish('A theme for the night')];
      await fixture.merging.merge(night.id, dark.id, MANAGER);
      expect((await wish('A theme for the night!')).id).to.equal(dark.id);
      await fixture.merging.split(night.id, MANAGER);
      expect((await wish('A theme for the night')).id).to.equal(night.id);
    });

    it('lets only one of two opposite merges succeed, in two processes', async () => {
      for (let i = 0; i < 5; i++) {
        const [a, b] = [await make(fixture, `Pair${'abcde'[i]}`), await make(other, `Twin${'abcde'[i]}`)];
        const codes = await Promise.all([
          codeOf(fixture.merging.merge(a, b, MANAGER)),
          codeOf(other.merging.merge(b, a, MANAGER)),
        ]);
        expect(codes.toSorted()).to.deep.equal(['none', 'validation_failed']);
        const target = codes[0] === 'none' ? b : a;
        for (const name of [`Pair${'abcde'[i]}`, `Twin${'abcde'[i]}`])
          expect(await countedAt(fixtureOn(fixture.store, fixture.clock), name)).to.equal(target);
      }
    });

    it('is consistent after many parallel merges and splits', async () => {
      const names = ['A', 'B', 'C', 'D', 'E', 'F'];
      const ids = new Map<string, string>();
      for (const name of names) ids.set(name, await make(fixture, name));
      const id = (i: number): string => ids.get(names[i % names.length] ?? '') ?? '';
      const allowed = ['none', 'validation_failed', 'invalid_transition'];
      const codes = await Promise.all(
        Array.from({ length: 24 }, (_, i) => {
          const { merging } = i % 2 === 0 ? fixture : other;
          const run = i % 3 === 2 ? merging.split(id(i), MANAGER) : merging.merge(id(i), id(i * 5 + 1), MANAGER);
          return codeOf(run);
        }),
      );
      for (const code of codes) expect(code).to.be.oneOf(allowed);
      await settled(fixture);
      await settled(other);
      const fresh = fixtureOn(fixture.store, fixture.clock);
      for (const name of names) {
        let end = await shown(fresh, ids.get(name) ?? '');
        for (let i = 0; end.status === 'duplicate' && i < names.length; i++)
          end = await shown(fresh, end.duplicate_of ?? '');
        expect(end.status).to.equal('open');
        const key = await fresh.deps.keys.find({ filter: { item_id: ids.get(name) ?? '', key: { prefix: 'v2:' } } });
        expect(key.items.map((doc) => doc.counts_at ?? doc.item_id)).to.deep.equal([end.id]);
        expect(await countedAt(fresh, name)).to.equal(end.id);
      }
      expect(await fixture.deps.moves.count()).to.equal(0);
    });
  });
}

describe('bugs: merge and split over HTTP', () => {
  let fixture: Fixture;
  let ask: Ask;
  beforeEach(async () => {
    fixture = await memoryFixture();
    ask = await httpOf(fixture);
  });
  afterEach(() => settled(fixture));
  const merge = (id: string, body: object, headers: Record<string, string> = {}) =>
    ask('POST', `/bugs/${id}/merge`, body, { headers });

  it('returns {item} and accepts refs', async () => {
    const [a, b] = [await fixture.bugs.record(errorOf('A')), await fixture.bugs.record(errorOf('B'))];
    const merged = await merge(a.ref, { into: b.ref, unknown: 1 });
    expect(merged.status).to.equal(200);
    expect(merged.body['item']).to.include({ id: a.id, status: 'duplicate', duplicate_of: b.id });
    const split = await ask('POST', `/bugs/${a.ref}/split`, {});
    expect(split.status).to.equal(200);
    expect(split.body['item']).to.include({ id: a.id, status: 'open' });
  });

  it('rejects an invalid merge and changes nothing', async () => {
    const [a, b] = [await make(fixture, 'A'), await make(fixture, 'B')];
    const foreign = (await fixture.bugs.record({ ...errorOf('F'), project: 'beta' })).id;
    await fixture.merging.merge(b, a, MANAGER);
    await settled(fixture);
    const before = await fixture.deps.items.get(a);
    for (const into of [a, b, foreign, 'alpha-999', '']) {
      const answer = await merge(a, { into });
      expect([answer.status, answer.code], into).to.deep.equal([422, 'validation_failed']);
      expect(answer.fields, into).to.have.property('into');
    }
    expect((await merge(a, {})).status).to.equal(422);
    expect((await merge('alpha-999', { into: a })).status).to.equal(404);
    expect((await ask('POST', '/bugs/alpha-999/split', {})).status).to.equal(404);
    expect(await fixture.deps.items.get(a)).to.deep.equal(before);
  });

  it('respects leases, revisions and final statuses', async () => {
    const [a, b, c] = [await make(fixture, 'A'), await make(fixture, 'B'), await make(fixture, 'C')];
    const { body } = await ask('POST', `/bugs/${a}/claim`, { agent: 'x' }, { bearer: OTHER });
    const claim_token = body['lease']?.['claim_token'];
    expect((await merge(a, { into: b })).code).to.equal('already_claimed');
    expect((await merge(a, { into: b, claim_token: 'stale' })).code).to.equal('lease_lost');
    expect((await merge(a, { into: b, force: true })).code).to.equal('reason_required');
    expect((await merge(a, { into: b, claim_token }, { 'if-match': '"1"' })).status).to.equal(412);
    expect((await merge(a, { into: b, claim_token })).status).to.equal(200);
    // Merged already: no transition.
    expect((await merge(a, { into: b })).status).to.equal(200);
    // Into another one instead.
    expect((await merge(a, { into: c })).body['item']).to.include({ duplicate_of: c });
    expect(await countedAt(fixture, 'A')).to.equal(c);
    await fixture.edits.edit(b, MANAGER, { status: 'closed' });
    expect((await merge(b, { into: c })).code).to.equal('invalid_transition');
    expect((await ask('POST', `/bugs/${b}/split`, {})).code).to.equal('invalid_transition');
  });

  it('leaves the revision of the other item unchanged', async () => {
    const [a, b] = [await make(fixture, 'A'), await make(fixture, 'B')];
    expect((await merge(a, { into: b })).status).to.equal(200);
    expect((await shown(fixture, b)).rev).to.equal(1);
    expect((await ask('PATCH', `/bugs/${b}`, { title: 'x' }, { headers: { 'if-match': '"1"' } })).status).to.equal(200);
  });

  it('writes history entries on both items', async () => {
    const [a, b] = [await make(fixture, 'A'), await make(fixture, 'B')];
    await fixture.merging.merge(a, b, MANAGER);
    await fixture.merging.split(a, MANAGER);
    expect(await historyOf(fixture, a)).to.deep.equal(['created', 'status', 'status']);
    expect(await historyOf(fixture, b)).to.deep.equal(['created', 'merged', 'split']);
  });

  it('moves the keys on a PATCH too', async () => {
    const [a, b] = [await make(fixture, 'A'), await make(fixture, 'B')];
    await fixture.edits.edit(a, MANAGER, { status: 'duplicate', duplicate_of: b });
    const [key] = (await fixture.deps.keys.find({ filter: { item_id: a } })).items;
    expect(key?.counts_at).to.equal(b);
    await fixture.edits.edit(a, MANAGER, { status: 'open' });
    expect(await countedAt(fixture, 'A')).to.equal(a);
  });

  it('reopens a resolved target on a forwarded occurrence, and leaves a client_ref with its item', async () => {
    const a = await fixture.bugs.record({ ...errorOf('A'), client_ref: 'r1' });
    const b = await make(fixture, 'B');
    await fixture.merging.merge(a.id, b, MANAGER);
    await fixture.edits.edit(b, MANAGER, { status: 'resolved' });
    fixture.clock.advance(61_000);
    expect(await fixture.bugs.record({ ...errorOf('A'), client_ref: 'r1' })).to.include({ id: a.id, repeated: true });
    expect(await fixture.bugs.record(errorOf('A'))).to.include({ id: b, regression: true });
  });
});

describe('bugs: a merge interrupted by a crash', () => {
  /** Whatever stands there afterwards agrees, and nothing is left to do. */
  async function agrees(heir: Fixture, a: string, b: string, pass: Death['pass']): Promise<Item> {
    const item = await shown(heir, a);
    const home = item.status === 'duplicate' ? b : a;
    expect(await countedAt(heir, 'A')).to.equal(home);
    pass(heir.clock);
    await heir.jobs.reconcile();
    await settled(heir);
    expect(await heir.deps.moves.count()).to.equal(0);
    const [key] = (await heir.deps.keys.find({ filter: { item_id: a } })).items;
    expect(key?.counts_at ?? key?.item_id).to.equal(home);
    expect(await countedAt(heir, 'A')).to.equal(home);
    return item;
  }

  for (const { late, pass, when } of DEATHS) {
    it(`before any of its writes ${when}: is completed by the next read`, async () => {
      let n = 1;
      for (let through = false; !through; n++) {
        const store = await ensureCollections(new MemoryStore());
        const first = fixtureOn(store);
        const [a, b] = [await make(first, 'A'), await make(first, 'B')];
        await settled(first);
        const victim = fixtureOn(dying(store, n, late).store, first.clock);
        through = await attempt(victim, () => victim.merging.merge(a, b, MANAGER));
        const heir = fixtureOn(store, first.clock);
        const merged = (await agrees(heir, a, b, pass)).status === 'duplicate';
        // The same call again answers as if nothing had been.
        expect((await heir.merging.merge(a, b, MANAGER)).status).to.equal('duplicate');
        expect((await historyOf(heir, b)).filter((action) => action === 'merged')).to.have.lengthOf(1);
        if (through) expect(merged).to.equal(true);
      }
      expect(n).to.be.greaterThan(5);
    });

    it(`while splitting, before any of its writes ${when}: is completed by the next read`, async () => {
      let n = 1;
      for (let through = false; !through; n++) {
        const store = await ensureCollections(new MemoryStore());
        const first = fixtureOn(store);
        const [a, b] = [await make(first, 'A'), await make(first, 'B')];
        await first.merging.merge(a, b, MANAGER);
        await settled(first);
        const victim = fixtureOn(dying(store, n, late).store, first.clock);
        through = await attempt(victim, () => victim.merging.split(a, MANAGER));
        const heir = fixtureOn(store, first.clock);
        // The caller repeats the split at once, before any job has run.
        const again = await codeOf(heir.merging.split(a, MANAGER));
        expect(again).to.be.oneOf(['none', 'invalid_transition']);
        expect((await agrees(heir, a, b, pass)).status).to.equal('open');
        expect((await historyOf(heir, b)).filter((action) => action === 'split')).to.have.lengthOf(1);
      }
      expect(n).to.be.greaterThan(5);
    });
  }

  it('is repaired by the job when the split is not repeated', async () => {
    const store = await ensureCollections(new MemoryStore());
    const first = fixtureOn(store);
    const [a, b] = [await make(first, 'A'), await make(first, 'B')];
    await first.merging.merge(a, b, MANAGER);
    await settled(first);
    // Its first write is the marker, its third the key.
    const victim = fixtureOn(dying(store, 3, false).store, first.clock);
    expect(await attempt(victim, () => victim.merging.split(a, MANAGER))).to.equal(false);
    const heir = fixtureOn(store, first.clock);
    expect((await shown(heir, a)).status).to.equal('open');
    expect(await countedAt(heir, 'A')).to.equal(b);
    heir.clock.advance(11_000);
    await heir.jobs.reconcile();
    expect(await countedAt(heir, 'A')).to.equal(a);
  });

  it('does not undo a split that overtakes the merge', async () => {
    const store = await ensureCollections(new MemoryStore());
    const first = fixtureOn(store);
    const [a, b] = [await make(first, 'A'), await make(first, 'B')];
    let overtaken = false;
    // The merge has computed where the key leads; before it writes that, somebody else splits.
    const slow = fixtureOn(store, first.clock, (deps) => {
      const { keys } = deps;
      deps.keys = new Proxy(keys, {
        get(target: Collection<Doc & { item_id: string }>, name) {
          const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
          return async (...args: unknown[]): Promise<unknown> => {
            if (name === 'changeMany' && !overtaken) {
              overtaken = true;
              await first.merging.split(a, MANAGER);
            }
            return method.apply(target, args);
          };
        },
      }) as typeof keys;
    });
    await slow.merging.merge(a, b, MANAGER);
    expect(overtaken).to.equal(true);
    expect((await shown(first, a)).status).to.equal('open');
    expect(await countedAt(fixtureOn(store, first.clock), 'A')).to.equal(a);
  });
});

describe('bugs: random merges and splits', () => {
  it('count occurrences as the model predicts', async () => {
    const names = ['A', 'B', 'C', 'D'];
    const index = fc.integer({ min: 0, max: names.length - 1 });
    const step = fc.record({ split: fc.boolean(), at: index, into: index, by: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const fixture = await memoryFixture();
        const ids: string[] = [];
        for (const name of names) ids.push(await make(fixture, name));
        const links = new Map<number, number>();
        const end = (i: number): number => (links.has(i) ? end(links.get(i) as number) : i);
        const leadsTo = (i: number, to: number): boolean => {
          const next = links.get(i);
          return i === to || (next !== undefined && leadsTo(next, to));
        };
        for (const { split, at, into, by } of steps) {
          const [item, target] = [ids[at] as string, ids[into] as string];
          if (split) {
            const run = by
              ? fixture.merging.split(item, MANAGER)
              : fixture.edits.edit(item, MANAGER, { status: 'open' });
            await codeOf(run);
            links.delete(at);
          } else if (!leadsTo(into, at)) {
            await fixture.merging.merge(item, target, MANAGER);
            links.set(at, into);
          } else expect(await codeOf(fixture.merging.merge(item, target, MANAGER))).to.equal('validation_failed');
          for (const [i, name] of names.entries()) expect(await countedAt(fixture, name)).to.equal(ids[end(i)]);
        }
        await settled(fixture);
      }),
      { numRuns: 40 },
    );
  });
});
