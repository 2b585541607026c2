import { expect } from 'chai';
import { BoundedMap } from '../../lib/bounded-map.js';

describe('lib: bounded map', () => {
  it('expires entries by age, on a clock that starts at 0', () => {
    let now = 0;
    const map = new BoundedMap<number>({ most: 10, ttlMs: 100, now: () => now });
    map.set('a', 1);
    now = 99;
    expect(map.get('a')).to.equal(1);
    now = 100;
    expect(map.get('a')).to.equal(undefined);
  });

  it('measures the age from the last write', () => {
    let now = 0;
    const map = new BoundedMap<number>({ most: 10, ttlMs: 100, now: () => now });
    map.set('a', 1);
    now = 80;
    map.set('a', 2);
    now = 150;
    expect(map.get('a')).to.equal(2);
  });

  it('accepts an individual lifetime for an entry', () => {
    let now = 0;
    const map = new BoundedMap<number>({ most: 10, ttlMs: 100, now: () => now });
    map.set('a', 1, 1_000);
    now = 500;
    expect(map.get('a')).to.equal(1);
  });

  it('evicts the least recently used entry', () => {
    const map = new BoundedMap<number>({ most: 2 });
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect([map.get('a'), map.get('b'), map.get('c')]).to.deep.equal([1, undefined, 3]);
    expect(map.size).to.equal(2);
  });
});
