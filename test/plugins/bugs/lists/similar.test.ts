/** Items near another one, by class, file, and the words of title and description. */
import { expect } from 'chai';
import { ENGINES, errorReport, fixtureOn, MANAGER, report, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of ENGINES)
  describe(`bugs: similar items on ${engine.name}`, function () {
    let fixture: Fixture;
    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture), once: true });

    const make = async (fields: object): Promise<string> => (await fixture.bugs.record(report(fields))).id;
    const near = async (id: string): Promise<string[]> =>
      (await fixture.lists.listSimilar(id, MANAGER, 10)).map((item) => item.id);

    it('compares descriptions of items whose titles have no word in common', async () => {
      const cart = await make({
        title: 'Basket vanishes',
        description: 'Put something into the cart, then sign in: the checkout shows an empty cart.',
      });
      const twin = await make({
        title: 'Lost goods',
        description: 'After customers sign in, the checkout page has an empty cart although something was there.',
      });
      const other = await make({
        title: 'Slow statistics',
        description: 'The monthly report takes a minute, something blocks the database.',
      });
      const bare = await make({ title: 'Printer jams' });
      expect(await near(cart)).to.deep.equal([twin]);
      expect(await near(twin)).to.deep.equal([cart]);
      for (const id of [other, bare]) expect(await near(id)).to.deep.equal([]);
    });

    it('ranks class and file above words', async () => {
      const fields = { exception_class: 'RangeError', file_path: 'src/price.ts' };
      const one = await fixture.bugs.record(errorReport({ ...fields, title: 'RangeError: invalid price' }));
      const sameFile = await fixture.bugs.record(
        errorReport({ ...fields, exception_class: 'TypeError', title: 'TypeError: no amount', error_message: 'b' }),
      );
      const words = await make({ title: 'Invalid price rangeerror in the offer' });
      expect(await near(one.id)).to.deep.equal([sameFile.id, words]);
    });

    it('return the claim token even when similar items cannot be read', async () => {
      const { item } = await fixture.leases.claim(await make({ title: 'Receipts lack their totals' }), MANAGER, {});
      const { texts } = fixture.deps;
      fixture.deps.texts = Object.create(texts, {
        get: { value: () => Promise.reject(new Error('the store is away')) },
      }) as typeof texts;
      try {
        expect(await fixture.lists.getBriefing(item)).to.deep.equal({});
      } finally {
        fixture.deps.texts = texts;
      }
    });

    it('belong to the same project, whatever words, class and file others share', async () => {
      const fields = {
        title: 'Quarantined conveyor deadlocks',
        description: 'The quarantined conveyor deadlocks whenever pallets overflow.',
        exception_class: 'ConveyorError',
        file_path: 'src/conveyor.ts',
      };
      const own = await fixture.bugs.record(errorReport(fields));
      for (const nth of ['a', 'b', 'c']) {
        const elsewhere = { ...fields, project: 'beta', title: `${fields.title} ${nth}`, error_message: nth };
        await fixture.bugs.record(errorReport(elsewhere));
      }
      const bound = { ...MANAGER, project: 'alpha' };
      expect(await fixture.lists.listSimilar(own.id, bound, 50)).to.deep.equal([]);
      const { item } = await fixture.leases.claim(own.id, bound, {});
      expect((await fixture.lists.getBriefing(item)).similar).to.deep.equal([]);
    });

    it('are returned with a claim, at most three', async () => {
      const made: string[] = [];
      for (const nth of ['first', 'second', 'third', 'fourth', 'fifth'])
        made.push(await make({ title: `Unreachable warehouse scanner ${nth}` }));
      const { item } = await fixture.leases.claim(made[0] ?? '', MANAGER, {});
      const { similar = [] } = await fixture.lists.getBriefing(item);
      expect(similar).to.have.length(3);
      for (const one of similar) {
        expect(one).to.include({ status: 'open', severity: 'medium' });
        expect(one.title).to.include('warehouse');
      }
    });
  });
