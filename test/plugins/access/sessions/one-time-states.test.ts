import { expect } from 'chai';
import { token } from '../../../../kernel/contract/index.js';
import type { AccessServices } from '../../../../plugins/access/services.js';
import { fixtureOn, services, type Fixture } from '../fixture.js';

const KIND = token<{ next: string }>('test');
const OTHER = token<{ next: string }>('other');

describe('access: one-time states', () => {
  let w: Fixture;
  let s: AccessServices;
  let sealed: string;

  beforeEach(async () => {
    w = await fixtureOn();
    s = await services(w);
    sealed = s.states.seal(KIND, { next: '/account' }, 60_000);
  });

  it('returns the data once, in every process', async () => {
    const other = await services(w);
    expect(s.states.read(KIND, sealed)).to.deep.equal({ next: '/account' });
    const all = await Promise.all([s.states.redeem(KIND, sealed), other.states.redeem(KIND, sealed)]);
    expect(all.filter((one) => one !== null)).to.deep.equal([{ next: '/account' }]);
    expect(await s.states.redeem(KIND, sealed)).to.equal(null);
  });

  it('stores nothing before the state is redeemed', async () => {
    const rows = w.store.collection('access_spent_states');
    expect(await rows.count({})).to.equal(0);
    await s.states.redeem(KIND, sealed);
    expect(await rows.count({})).to.equal(1);
  });

  it('rejects a state that has expired, and forgets redeemed ones then', async () => {
    await s.states.redeem(KIND, s.states.seal(KIND, { next: '/' }, 60_000));
    w.clock.forward(60_000);
    expect(s.states.read(KIND, sealed)).to.equal(null);
    expect(await s.states.redeem(KIND, sealed)).to.equal(null);
    expect(await s.states.sweep()).to.equal(1);
  });

  for (const [name, change] of Object.entries<(text: string) => string | undefined>({
    'no state': () => undefined,
    'an empty one': () => '',
    'a damaged one': (text) => `${text.slice(0, -8)}AAAAAAA=`,
    'plain text': () => 'eyJpZCI6IngifQ==',
  }))
    it(`rejects ${name}`, async () => {
      expect(await s.states.redeem(KIND, change(sealed))).to.equal(null);
    });

  it('rejects the state of another step', async () => {
    expect(await s.states.redeem(OTHER, sealed)).to.equal(null);
    expect(await s.states.redeem(KIND, sealed)).to.not.equal(null);
  });
});
