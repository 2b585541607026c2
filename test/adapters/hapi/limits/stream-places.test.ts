/** Who gives way where the places of streams are used up. */
import { expect } from 'chai';
import fc from 'fast-check';
import { StreamSlots, type StreamSlot } from '../../../../adapters/hapi/limits/stream-slots.js';

describe('hapi: stream slots', () => {
  /** A download, its place and whether it was cut. */
  class Download {
    cut = false;
    constructor(readonly place: StreamSlot) {
      place.allowEviction(() => (this.cut = true));
    }
    static enter(places: StreamSlots, address: string): Download | null {
      const place = places.acquire(address);
      return place === null ? null : new Download(place);
    }
  }

  it('evicts the most idle stream of the address with the most streams for a new stream', () => {
    // Sixteen for strangers, four for each of them.
    const places = new StreamSlots(64);
    const all = [0, 1, 2, 3].map((a) => [0, 1, 2, 3].map(() => Download.enter(places, `10.0.0.${a}`)));
    expect(Download.enter(places, '10.0.0.0'), 'its part is used up').to.equal(null);
    all[0]?.[0]?.place.markProgress();
    expect(Download.enter(places, '10.0.0.9')).to.not.equal(null);
    expect(all.map((own) => own.map((one) => one?.cut))[0]).to.deep.equal([false, true, false, false]);
    expect(places.count).to.equal(16);
    all[0]?.[1]?.place.release();
    expect(places.count, 'left once').to.equal(16);
    expect(Download.enter(places, '10.0.0.0'), 'no other has two more').to.equal(null);
  });

  it('never evicts an address’s only download, nor rejects an address with two fewer streams (property)', () => {
    const arrivals = fc.array(fc.nat({ max: 24 }), { maxLength: 120 });
    fc.assert(
      fc.property(arrivals, (addresses) => {
        const places = new StreamSlots(64);
        const open: { address: number; one: Download }[] = [];
        const of = (address: number): number => open.filter((two) => two.address === address && !two.one.cut).length;
        for (const address of addresses) {
          const before = new Map(addresses.map((each) => [each, of(each)]));
          const one = Download.enter(places, `10.0.0.${address}`);
          if (one !== null) open.push({ address, one });
          for (const [each, held] of before)
            if (of(each) < held) expect([held >= 2, of(each) >= of(address)]).to.deep.equal([true, true]);
          if (one === null && of(address) < 4) expect(Math.max(...before.values())).to.be.below(of(address) + 2);
        }
        expect(places.count).to.be.at.most(16);
      }),
    );
  });

  it('never evicts uploads or callers with a credential', () => {
    const places = new StreamSlots(64);
    for (let i = 0; i < 16; i++) expect(places.acquire(`10.0.0.${i % 4}`)).to.not.equal(null);
    expect(places.acquire('10.0.0.9')).to.equal(null);
    const known = Array.from({ length: 48 }, () => places.acquire(null));
    for (const place of known) place?.allowEviction(() => expect.fail('a known caller was cut'));
    expect(known).not.to.include(null);
    expect(places.acquire('10.0.0.9')).to.equal(null);
    expect(places.count).to.equal(64);
  });
});
