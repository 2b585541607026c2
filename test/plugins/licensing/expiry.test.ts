/** Ends of licenses that are told, where the clock is put ahead and back (contract 50, events). */
import 'reflect-metadata';
import { expect } from 'chai';
import { LICENSE_EXPIRED, LICENSE_EXPIRING } from '../../../ports/domain/licensing.js';
import { DAY_MS, toIsoString, MINUTE_MS } from '../../../lib/time.js';
import { ADMIN, fixtureOn, STORES, type Fixture } from './fixture.js';
import { useStore } from '../../support/stores.js';

for (const engine of STORES) {
  describe(`licensing: license expiry events (${engine.name})`, () => {
    let f: Fixture;
    useStore(
      engine,
      (store) => {
        f = fixtureOn(store);
      },
      { end: () => f.settled() },
    );
    const expired = async (of: Fixture = f): Promise<unknown[]> => {
      await of.settled();
      return of.emitted.filter(({ event }) => event === LICENSE_EXPIRED.event).map(({ data }) => data['id']);
    };

    it('is emitted again at the actual expiry after a clock that ran ahead emitted it early', async () => {
      const end = f.clock.now() + 100 * DAY_MS;
      const { doc } = await f.license({ expires_at: toIsoString(end) });
      const { doc: past } = await f.license({ expires_at: toIsoString(f.clock.now() - DAY_MS) });
      const { doc: open } = await f.license();
      f.clock.set(f.clock.now() + 365 * DAY_MS);
      expect(await f.expiry.run()).to.equal(2);
      expect(await expired()).to.have.members([doc.id, past.id]);
      f.clock.set(end - 100 * DAY_MS);
      f.told.length = 0;
      expect(await f.expiry.run()).to.equal(0);
      expect(f.told, 'its files are wanted again').to.deep.equal(['shop']);
      expect(await f.deps.licenses.get(doc.id)).to.include({ expire_due: toIsoString(end) });
      f.clock.set(end + MINUTE_MS);
      expect(await f.expiry.run()).to.equal(1);
      expect(await expired()).to.have.members([doc.id, past.id, doc.id]);
      expect(await f.expiry.run()).to.equal(0);
      expect((await f.deps.licenses.get(open.id))?.expire_due).to.equal(undefined);
    });

    it('lists the licenses of a product that expire next, without those that have expired or are not active', async () => {
      const expiring = async (days: number): Promise<string> => {
        const { doc } = await f.license({ expires_at: toIsoString(f.clock.now() + days * DAY_MS) });
        return doc.id;
      };
      const [later, next] = [await expiring(40), await expiring(5)];
      const revoked = await expiring(1);
      await expiring(-1);
      await expiring(200);
      await f.license();
      await f.licenses.applyTransition(ADMIN, revoked, 'revoke');
      const until = toIsoString(f.clock.now() + 90 * DAY_MS);
      const list = async (limit: number): Promise<string[]> =>
        (await f.licenses.listExpiring('shop', until, limit)).map(({ id }) => id);
      expect(await list(10)).to.deep.equal([next, later]);
      expect(await list(1)).to.deep.equal([next]);
    });

    it('announces no upcoming expiry after the license has expired', async () => {
      await f.license({ expires_at: toIsoString(f.clock.now() + 100 * DAY_MS) });
      f.clock.advance(101 * DAY_MS);
      for (let run = 0; run < 2; run++) await f.expiry.run();
      expect(await expired()).to.have.length(1);
      expect(f.emitted.filter(({ event }) => event === LICENSE_EXPIRING.event)).to.deep.equal([]);
    });

    it('is not emitted alternately by two machines whose clocks differ', async () => {
      const { doc } = await f.license({ expires_at: toIsoString(f.clock.now() + 100 * DAY_MS) });
      const other = fixtureOn(f.store);
      other.clock.set(f.clock.now() + 365 * DAY_MS);
      for (let minute = 0; minute < 50; minute++) {
        await other.expiry.run();
        await f.expiry.run();
        for (const { clock } of [f, other]) clock.advance(MINUTE_MS);
      }
      expect([...(await expired()), ...(await expired(other))]).to.deep.equal([doc.id, doc.id]);
    });
  });
}
