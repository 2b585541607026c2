import { expect } from 'chai';
import { RandomIds } from '../../../adapters/node/ids.js';
import { ManualClock } from '../../kit/clock.js';

describe('RandomIds', () => {
  it('generates UUIDv7 with the time of the clock', () => {
    const id = new RandomIds(new ManualClock(0x0123_4567_89ab)).uuid();
    expect(id).to.match(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('generates strictly increasing ids, even when the clock stops or moves backwards', () => {
    const clock = new ManualClock();
    const ids = new RandomIds(clock);
    const made: string[] = [];
    for (let i = 0; i < 20_000; i++) {
      if (i === 10_000) clock.advance(-5_000);
      if (i === 15_000) clock.advance(60_000);
      made.push(ids.uuid());
    }
    expect(made).to.deep.equal([...new Set(made)].toSorted());
  });

  it('generates evenly distributed base62 secrets', () => {
    const ids = new RandomIds(new ManualClock());
    expect(ids.secret()).to.match(/^[0-9A-Za-z]{43}$/);
    expect(ids.secret(8)).to.have.lengthOf(8);
    const counts = new Map<string, number>();
    for (const letter of ids.secret(124_000)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
    expect(counts.size).to.equal(62);
    // Expected 2,000 each with a deviation of 45; `byte % 62` would give the first eight 2,430.
    for (const count of counts.values()) expect(count).to.be.within(1_700, 2_300);
  });
});
