/** Who gives way when answers wait for their readers. */
import { expect } from 'chai';
import fc from 'fast-check';
import { UnsentBudget, type UnsentReservation } from '../../../../adapters/hapi/limits/unsent-budget.js';

describe('hapi: unsent response bytes', () => {
  let now = 0;
  let cut: string[] = [];
  let budget: UnsentBudget;
  beforeEach(() => {
    [now, cut] = [0, []];
    budget = new UnsentBudget(100, 40, () => now);
  });
  const open = (address: string, bytes: number, name = address): UnsentReservation =>
    budget.open(address, bytes, () => void cut.push(name));

  it('evicts only the most idle response of an address that exceeds its share', () => {
    open('b', 10);
    open('a', 20, 'first');
    const second = open('a', 20, 'second');
    now = 3_000;
    second.markProgress();
    open('a', 20, 'third');
    expect(cut).to.deep.equal(['first']);
  });

  it('evicts responses that make progress only when the budget is exhausted', () => {
    for (const name of ['1', '2', '3', '4']) open('a', 20, name);
    expect([cut, budget.heldBytes]).to.deep.equal([[], 80]);
    open('b', 20);
    expect(cut).to.deep.equal([]);
    open('c', 20);
    expect([cut, budget.heldBytes, budget.evictedCount]).to.deep.equal([['1'], 100, 1]);
  });

  it('accepts a single response larger than the budget', () => {
    open('a', 20);
    open('b', 500, 'large');
    expect([cut, budget.heldBytes]).to.deep.equal([['a'], 500]);
  });

  it('counts bytes correctly for any order of events', () => {
    const step = fc.oneof(
      fc.record({ address: fc.constantFrom('a', 'b', 'c'), bytes: fc.integer({ min: 1, max: 60 }) }),
      fc.record({ close: fc.nat(20) }),
      fc.record({ move: fc.nat(20) }),
      fc.record({ wait: fc.nat(3_000) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const tried = new UnsentBudget(100, 40, () => now);
        const live = new Map<UnsentReservation, number>();
        for (const one of steps) {
          const leases = [...live.keys()];
          if ('wait' in one) now += one.wait;
          else if ('close' in one) {
            const lease = leases[one.close];
            lease?.release();
            if (lease) live.delete(lease);
          } else if ('move' in one) leases[one.move]?.markProgress();
          else {
            const held: { lease?: UnsentReservation } = {};
            held.lease = tried.open(one.address, one.bytes, () => void (held.lease && live.delete(held.lease)));
            live.set(held.lease, one.bytes);
          }
          const sum = [...live.values()].reduce((all, bytes) => all + bytes, 0);
          expect(tried.heldBytes).to.equal(sum);
          expect(sum).to.be.at.most(100);
        }
        for (const lease of live.keys()) lease.release();
        expect(tried.heldBytes).to.equal(0);
      }),
    );
  });
});
