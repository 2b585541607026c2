import { expect } from 'chai';
import { RequestsInFlight } from '../../../../adapters/hapi/limits/requests-in-flight.js';

describe('hapi: in-flight requests', () => {
  it('reserves slots for callers with a credential under any load from others', () => {
    const inFlight = new RequestsInFlight(32);
    const strangers = Array.from({ length: 40 }, (_, i) => inFlight.acquire(`10.0.0.${i}`));
    expect(strangers.filter((place) => place !== null)).to.have.length(8);
    const known = Array.from({ length: 40 }, () => inFlight.acquire(null));
    expect(known.filter((place) => place !== null)).to.have.length(24);
    expect(inFlight.count).to.equal(32);
    for (const place of [...strangers, ...known]) place?.release();
    expect(inFlight.count).to.equal(0);
    expect(inFlight.acquire('10.0.0.1')).to.not.equal(null);
  });

  it('limits an address to its share of the slots', () => {
    const inFlight = new RequestsInFlight(32);
    const places = [1, 2, 3].map(() => inFlight.acquire('10.0.0.1'));
    expect(places.map((place) => place !== null)).to.deep.equal([true, true, false]);
    expect(inFlight.acquire('10.0.0.2')).to.not.equal(null);
    places[0]?.release();
    places[0]?.release();
    expect(inFlight.acquire('10.0.0.1')).to.not.equal(null);
    expect(inFlight.count).to.equal(3);
  });
});
