import { expect } from 'chai';
import { RecentMap } from '../../lib/recent-map.js';

describe('lib: recent map', () => {
  it('keeps the most recent and the recently used entries, at most twice as many', () => {
    const map = new RecentMap<number>(10);
    for (let n = 0; n < 1000; n++) {
      map.set(`t${n}`, n);
      for (let before = Math.max(0, n - 4); before <= n; before++) expect(map.get(`t${before}`)).to.equal(before);
      expect(map.get('t0')).to.equal(0);
    }
    let kept = 0;
    for (let n = 0; n < 1000; n++) if (map.get(`t${n}`) !== undefined) kept++;
    expect(kept).to.be.at.most(20);
  });

  it('returns the last value of a key', () => {
    const map = new RecentMap<number>(2);
    for (const [n, key] of ['a', 'b', 'c', 'a'].entries()) map.set(key, n);
    expect(map.get('a')).to.equal(3);
  });
});
