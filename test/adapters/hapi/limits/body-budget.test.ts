import { expect } from 'chai';
import fc from 'fast-check';
import { BodyBudget, OPEN_BODY_BYTES, type BodyReservation } from '../../../../adapters/hapi/limits/body-budget.js';

const KIB = 1024;

describe('hapi: body budget', () => {
  it('evicts the oldest body of the same owner when the owner’s share is exhausted', () => {
    const gone: string[] = [];
    const budget = new BodyBudget(1_000 * KIB, 100 * KIB);
    const open = (owner: string, name: string): BodyReservation => budget.open(owner, () => gone.push(name))!;
    const first = open('a', 'first');
    const second = open('a', 'second');
    const other = open('b', 'other');
    expect(first.grow(50 * KIB)).to.equal(true);
    expect(second.grow(40 * KIB)).to.equal(true);
    expect(gone).to.deep.equal(['first']);
    expect(other.grow(60 * KIB)).to.equal(true);
    expect(gone).to.deep.equal(['first']);
    expect(first.grow(1)).to.equal(false);
  });

  it('evicts a body of the owner with the largest usage when the budget is exhausted', () => {
    const gone: string[] = [];
    const budget = new BodyBudget(200 * KIB, 120 * KIB);
    const open = (owner: string, name: string, bytes: number): boolean =>
      budget.open(owner, () => gone.push(name))?.grow(bytes) ?? false;
    expect(open('a', 'a', 30 * KIB)).to.equal(true);
    expect(open('b', 'b1', 40 * KIB)).to.equal(true);
    expect(open('b', 'b2', 40 * KIB)).to.equal(true);
    expect(open('c', 'c', 30 * KIB)).to.equal(true);
    expect(gone).to.deep.equal(['b1']);
  });

  it('does not evict a body that has arrived completely', () => {
    const budget = new BodyBudget(100 * KIB, 100 * KIB);
    const whole = budget.open('a', () => expect.fail('it has arrived'))!;
    expect(whole.grow(80 * KIB)).to.equal(true);
    whole.markArrived();
    expect(budget.open('b', () => undefined)).to.equal(null);
    whole.release();
    expect(budget.heldBytes).to.equal(0);
    expect(budget.open('b', () => undefined)).to.not.equal(null);
  });

  it('transfers a body with its bytes to another budget', () => {
    const anonymous = new BodyBudget(100 * KIB, 50 * KIB);
    const known = new BodyBudget(100 * KIB, 50 * KIB);
    const lease = anonymous.open('127.0.0.1', () => undefined)!;
    lease.grow(10 * KIB);
    expect(lease.moveTo(known, 'token')).to.equal(true);
    expect([anonymous.heldBytes, known.heldBytes]).to.deep.equal([0, OPEN_BODY_BYTES + 10 * KIB]);
    lease.release();
    lease.release();
    expect(known.heldBytes).to.equal(0);
  });

  it('never exceeds the budget or the share of an owner, and releases everything', () => {
    const step = fc.record({
      owner: fc.constantFrom('a', 'b', 'c', 'd'),
      bytes: fc.integer({ min: 0, max: 40 * KIB }),
      end: fc.constantFrom('arrived', 'close', 'none'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const budget = new BodyBudget(200 * KIB, 80 * KIB);
        const held = new Map<BodyReservation, { owner: string; bytes: number }>();
        const check = (): void => {
          const sums = new Map<string, number>();
          for (const { owner, bytes } of held.values()) sums.set(owner, (sums.get(owner) ?? 0) + bytes);
          for (const sum of sums.values()) expect(sum).to.be.at.most(80 * KIB);
          expect([...sums.values()].reduce((a, b) => a + b, 0)).to.equal(budget.heldBytes);
          expect(budget.heldBytes).to.be.at.most(200 * KIB);
        };
        for (const { owner, bytes, end } of steps) {
          let lease: BodyReservation | null = null;
          lease = budget.open(owner, () => held.delete(lease!));
          if (lease === null) continue;
          held.set(lease, { owner, bytes: OPEN_BODY_BYTES });
          if (lease.grow(bytes)) held.get(lease)!.bytes += bytes;
          if (end === 'arrived') lease.markArrived();
          if (end === 'close') {
            lease.release();
            held.delete(lease);
          }
          check();
        }
        for (const lease of held.keys()) lease.release();
        expect(budget.heldBytes).to.equal(0);
      }),
    );
  });
});
