/**
 * Very many leases that run out at once: no request waits for all of them, and nothing of them is
 * lost.
 */
import { expect } from 'chai';
import { MAX_EXPIRY_BATCH_SIZE } from '../../../../plugins/bugs/claims/lease-expiry.js';
import type { BugCaller } from '../../../../plugins/bugs/caller.js';
import type { ItemDoc } from '../../../../plugins/bugs/item/model.js';
import type { Collection } from '../../../../ports/store/index.js';
import { fixtureOn, ensureCollections, listed, MANAGER, report, shown, type Fixture } from '../fixture.js';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { scaleRepeats } from '../../../support/repeat-budget.js';

/** Twenty batches, and more where there is time. */
const MANY = scaleRepeats(20) * MAX_EXPIRY_BATCH_SIZE;
const OTHER: BugCaller = { ...MANAGER, id: 'tok-other', name: 'other' };

/** Counts writes of items, and holds them back from a number on. */
class Writes {
  n = 0;
  most = Infinity;
  #open: () => void = () => undefined;
  #gate: Promise<void> = new Promise((resolve) => (this.#open = resolve));

  /** @param exempt ids whose writes always pass */
  constructor(
    items: Collection<ItemDoc>,
    private readonly exempt: ReadonlySet<unknown>,
  ) {
    const change = items.change.bind(items);
    items.change = async (filter, ...rest) => {
      // A claim of the first one that fits names no id.
      if (typeof filter['id'] === 'string' && !this.exempt.has(filter['id'])) {
        if (this.n >= this.most) await this.#gate;
        this.n++;
      }
      return change(filter, ...rest);
    };
  }

  release(): void {
    this.most = Infinity;
    this.#open();
  }
}

describe('bugs: thousands of leases that expire simultaneously', function () {
  let fixture: Fixture;
  let writes: Writes;
  const last = `019a0000-0000-7000-8000-${'0'.repeat(11)}z`;

  beforeEach(async () => {
    const store = await ensureCollections(new MemoryStore());
    fixture = fixtureOn(store, undefined, (deps) => {
      // Without transactions every change of an item is one call of its collection.
      deps.transact = null;
      writes = new Writes(deps.items, new Set([last]));
    });
    const { id } = await fixture.bugs.record(report());
    await fixture.leases.claim(id, MANAGER, { agent: 'a', lease_seconds: 60 });
    await fixture.jobs.stop();
    const first = (await fixture.deps.items.get(id)) as ItemDoc;
    if (first.claim === null) throw new Error('not claimed');
    // The place among its holder's leases is unique (plugins/bugs/claims/claim-quota.ts).
    const { slot: _, ...claim } = first.claim;
    const made: ItemDoc = { ...first, claim };
    const one = (n: number, more: Partial<ItemDoc> = {}): { insert: ItemDoc } => ({
      insert: { ...made, id: `${id.slice(0, -6)}${String(n).padStart(6, 'x')}`, ref: `alpha-${n + 2}`, ...more },
    });
    await fixture.deps.items.bulk(Array.from({ length: MANY }, (_, i) => one(i)));
    // Ends a moment after the others, so that no first batch holds it.
    const expires_at = new Date(Date.parse(claim.expires_at) + 1).toISOString();
    await fixture.deps.items.bulk([
      one(MANY, { id: last, ref: 'alpha-99999', target_agent: 'other', claim: { ...claim, expires_at } }),
    ]);
    writes.n = 0;
    fixture.clock.advance(61_000);
  });

  it('a list and a claim write one batch for any number of expired leases, and show none of them', async () => {
    writes.most = MAX_EXPIRY_BATCH_SIZE;
    const list = listed(await fixture.lists.list(MANAGER, { limit: 200 }));
    expect(writes.n).to.equal(MAX_EXPIRY_BATCH_SIZE);
    expect(list.map(({ status, claim }) => [status, claim])).to.deep.equal(list.map(() => ['open', null]));
    const granted = await fixture.nextItem.reserveNext(MANAGER, { agent: 'b' }, {});
    expect(granted.item?.claim?.agent).to.equal('b');
    const parallel = await Promise.all(Array.from({ length: 20 }, () => fixture.lists.list(MANAGER, { limit: 1 })));
    expect(parallel).to.have.length(20);
    expect(writes.n).to.equal(MAX_EXPIRY_BATCH_SIZE);
    writes.release();
    await fixture.jobs.sweep();
  });

  it('grants a claim on an expired item whose expiry has not been written yet', async () => {
    writes.most = MAX_EXPIRY_BATCH_SIZE;
    expect(await shown(fixture, last)).to.include({ status: 'open', claim: null });
    const granted = await fixture.nextItem.reserveNext(OTHER, {}, { target_agent: 'other' });
    expect(granted.item).to.include({ id: last, claim_count: 2 });
    expect(await fixture.nextItem.reserveNext(OTHER, {}, { target_agent: 'other' })).to.include({ item: null });
    expect(writes.n).to.equal(MAX_EXPIRY_BATCH_SIZE);
    writes.release();
    await fixture.jobs.sweep();
  });

  it('reopens all items eventually, each with a history entry', async () => {
    await fixture.lists.list(MANAGER, { limit: 1 });
    await fixture.jobs.sweep();
    await fixture.jobs.stop();
    expect(await fixture.deps.items.count({ status: 'in_progress' })).to.equal(0);
    expect(await fixture.deps.items.count({ status: 'open' })).to.equal(MANY + 2);
    expect(await fixture.deps.activity.count({ action: 'status' })).to.equal(MANY + 2);
    // Nothing is left to do: a list writes nothing more.
    const { n } = writes;
    await fixture.lists.list(MANAGER, { limit: 1 });
    expect(writes.n).to.equal(n);
  });
});
