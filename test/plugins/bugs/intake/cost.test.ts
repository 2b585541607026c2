/** What a report of a known group costs the store: the error intake lives on it. */
import { expect } from 'chai';
import type { ReportDetails, BatchReport } from '../../../../ports/domain/bugs.js';
import type { Collection, Doc, Transact } from '../../../../ports/store/index.js';
import { errorReport, memoryFixture, settled, fixtureOn, type Fixture } from '../fixture.js';

/**
 * A process over the fixture's store that has read the grouping rules, as the service does at its
 * start; every further call is noted as `collection.method`, or as a transaction of collections.
 */
async function noted(given: Fixture, transacts = true): Promise<{ fixture: Fixture; calls: string[] }> {
  const calls: string[] = [];
  const store = Object.create(given.store) as Fixture['store'];
  store.collection = <T extends Doc>(name: string): Collection<T> =>
    new Proxy(given.store.collection<T>(name), {
      get: (target, method) => {
        const inner = Reflect.get(target, method) as (...args: unknown[]) => unknown;
        return (...args: unknown[]): unknown => {
          calls.push(`${name.replace('bugs_', '')}.${String(method)}`);
          return inner.apply(target, args);
        };
      },
    });
  const { transact } = given.store;
  const counted: Transact | null =
    transact &&
    ((writes) => {
      calls.push(`transact ${writes.map(({ collection }) => collection.replace('bugs_', '')).join(' ')}`);
      return transact(writes);
    });
  Object.defineProperty(store, 'transact', { value: transacts ? counted : null });
  const fixture = fixtureOn(store, given.clock, (deps) => Object.assign(deps, { random: () => 0.999_999 }));
  await fixture.groupingRules.reload();
  calls.length = 0;
  return { fixture, calls };
}

describe('bugs: store calls per occurrence', () => {
  let fixture: Fixture;
  let calls: string[];
  beforeEach(async () => {
    const plain = await memoryFixture();
    for (let i = 0; i < 60; i++) await plain.bugs.record(errorReport());
    await settled(plain);
    ({ fixture, calls } = await noted(plain));
  });

  it('counts an occurrence of an existing group with a read by id and one write', async () => {
    await fixture.bugs.record(errorReport());
    expect(calls).to.deep.equal(['keys.get', 'items.change']);
  });

  it('stores a new user in the same write, and adds no call for an existing user', async () => {
    const named = (from: number, n: number): BatchReport[] =>
      Array.from({ length: n }, (_, i) => ({ report: errorReport({ user: `user ${from + i}` }) }));
    await fixture.bugs.recordAll(named(0, 10));
    calls.length = 0;
    await fixture.bugs.record(errorReport({ user: 'user 3' }));
    await fixture.bugs.record(errorReport({ user: 'user 10' }));
    await fixture.bugs.recordAll(named(0, 100));
    expect(calls).to.deep.equal(['items.change', 'items.change', 'items.change']);
    expect((await fixture.deps.items.find()).items[0]?.people).to.be.within(95, 105);
  });

  it('counts a list with a single write per group, and returns the count of each report', async () => {
    const known = Array.from({ length: 100 }, () => ({ report: errorReport() }));
    const done = await fixture.bugs.recordAll(known);
    expect(calls.filter((call) => !call.endsWith('get'))).to.deep.equal(['items.change']);
    const counts = done.map((one) => (one.status === 'fulfilled' ? one.value.hit_count : null));
    expect(counts).to.deep.equal(Array.from({ length: 100 }, (_, i) => 61 + i));
  });

  it('counts a list with references in a single write, and a new group in one more', async () => {
    const list = (title: string): BatchReport[] =>
      Array.from({ length: 100 }, (_, i) => ({
        report: errorReport({ error_message: title, client_ref: `${title} ${i}` }),
      }));
    await fixture.bugs.recordAll(list('a new one'));
    await settled(fixture);
    expect(calls.filter((call) => call.startsWith('transact') && call.includes('items'))).to.have.length(2);
    const { items } = await fixture.deps.items.find();
    expect(items.map(({ hit_count }) => hit_count).toSorted((a, b) => a - b)).to.deep.equal([60, 100]);
  });

  it('needs no more calls for a client_ref, since the reference is written with the count', async () => {
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(fixture);
    expect(calls).to.deep.equal(['keys.get', 'transact refs items']);
  });

  it('checks the grouping rules at most once a second, and reads them only after a change', async () => {
    const requested = (): string[] => calls.splice(0).filter((call) => call.startsWith('rule'));
    for (let i = 0; i < 20; i++) await fixture.bugs.record(errorReport());
    expect(requested()).to.deep.equal([]);
    fixture.clock.advance(1_500);
    for (let i = 0; i < 20; i++) await fixture.bugs.record(errorReport());
    expect(requested()).to.deep.equal(['rulerevisions.get']);
    fixture.clock.advance(5_000);
    for (let i = 0; i < 20; i++) await fixture.bugs.record(errorReport());
    expect(requested()).to.deep.equal(['rulerevisions.get']);
  });

  it('reads the details only when the payload is stored', async () => {
    let requested = 0;
    const details = (): ReportDetails => ({ context: { asked: (requested += 1) }, breadcrumbs: null });
    for (const client_ref of ['a', null]) {
      expect((await fixture.bugs.record(errorReport({ client_ref }), { details })).sampled).to.equal(false);
    }
    expect(requested).to.equal(0);
    const kept = await fixture.bugs.record(errorReport({ title: 'another', error_message: 'another' }), { details });
    expect([kept.sampled, requested]).to.deep.equal([true, 1]);
  });

  it('stores client_ref and payload in one write, and no payload for a repeat in another process', async () => {
    const kept = await noted(await memoryFixture());
    await kept.fixture.bugs.record(errorReport());
    await settled(kept.fixture);
    kept.calls.length = 0;
    expect(await kept.fixture.bugs.record(errorReport({ client_ref: 'r' }))).to.include({ sampled: true });
    expect(kept.calls).to.deep.equal(['keys.get', 'transact refs items occurrences']);
    const other = await noted(kept.fixture);
    await other.fixture.bugs.record(errorReport({ client_ref: 'first here' }));
    other.calls.length = 0;
    expect(await other.fixture.bugs.record(errorReport({ client_ref: 'r' }))).to.include({
      repeated: true,
      sampled: false,
      hit_count: 3,
    });
    expect(other.calls).to.deep.equal(['transact refs items occurrences', 'refs.get', 'items.get']);
    expect(await kept.fixture.deps.occurrences.count()).to.equal(3);
  });

  it('needs two more writes for a client_ref without transactions, one after the response', async () => {
    ({ fixture, calls } = await noted(fixture, false));
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(fixture);
    expect(calls).to.deep.equal(['keys.get', 'refs.insert', 'items.change', 'refs.bulk']);
  });

  it('needs a number and one write for a new group, and emits its event after the response', async () => {
    const fresh = { error_message: 'another one', exception_class: 'F', client_ref: 'r' };
    await fixture.bugs.record(errorReport(fresh));
    await settled(fixture);
    expect(calls.filter((call) => !call.endsWith('get'))).to.deep.equal([
      'counters.change',
      'transact families keys floods refs texts items occurrences',
      'items.bulk',
    ]);
  });

  it('needs two reads for a repeated client_ref whose key was used recently', async () => {
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(fixture);
    calls.length = 0;
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    expect(calls).to.deep.equal(['refs.get', 'items.get']);
  });
});
