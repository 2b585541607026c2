/** The lists of a release's page: what the version fixes and what began with it. */
import { expect } from 'chai';
import { ENGINES, errorReport, fixtureOn, MANAGER, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

for (const engine of ENGINES) {
  describe(`bugs: items of a version (${engine.name})`, () => {
    let fixture: Fixture;
    useStore(engine, (store) => (fixture = fixtureOn(store)), { end: () => settled(fixture) });

    let made = 0;
    const create = async (fields: object = {}): Promise<{ id: string; ref: string }> =>
      fixture.bugs.record(errorReport({ exception_class: `E${'abcdefghij'[made++ % 10]}x${made}`, ...fields }));
    const fix = async (edit: object): Promise<string> => {
      const { id, ref } = await create({ app_version: '1.0' });
      await fixture.edits.edit(id, MANAGER, edit);
      return ref;
    };
    const list = async (version = '2.0', limit = 10): Promise<string[]> =>
      (await fixture.fixes.list('alpha', version, limit)).items.map(({ ref }) => ref);

    it('lists waiting and closed items of the fix version, in any notation, and those of its build name', async () => {
      const refs = [
        await fix({ status: 'resolved', resolved_in_build: '2.0.0' }),
        await fix({ status: 'closed', resolved_in_build: 'v2' }),
        await fix({ status: 'resolved', resolved_in_build: 'nightly-7' }),
      ];
      await fix({ status: 'resolved', resolved_in_build: '2.1' });
      await fix({ status: 'closed' });
      expect(await list()).to.have.members(refs.slice(0, 2));
      await fixture.bugs.recordRelease('alpha', { version: '2.0', build: 'nightly-7', publication: 'act-2' });
      expect(await list()).to.have.members(refs);
      expect(await fixture.fixes.list('alpha', '2', 1)).to.include({ total: 3 });
      expect(await list('2', 1)).to.have.length(1);
      expect((await fixture.fixes.list('beta', '2.0', 10)).items).to.deep.equal([]);
    });

    it('lists items that a publish closed before fix keys existed, unless they came back', async () => {
      const ref = await fix({ status: 'resolved', resolved_in_build: '2.0' });
      const back = await fix({ status: 'resolved', resolved_in_build: '2.0' });
      await fixture.bugs.recordRelease('alpha', { version: '2.0', build: null, publication: 'act-3' });
      for (const one of [ref, back]) await fixture.deps.items.change({ ref: one }, { unset: ['fix_key'], set: {} });
      await fixture.deps.items.change({ ref: back }, { set: { status: 'open', resolved_in_build: null } });
      expect(await fixture.fixes.list('alpha', '2.0', 10)).to.have.property('total', 1);
      expect(await list()).to.deep.equal([ref]);
    });

    it('does not list an item after its regression', async () => {
      const { id } = await create({ exception_class: 'Back', app_version: '1.0' });
      await fixture.edits.edit(id, MANAGER, { status: 'closed', resolved_in_build: '2.0' });
      expect(await list()).to.have.length(1);
      await create({ exception_class: 'Back', app_version: '2.1' });
      expect(await list()).to.deep.equal([]);
    });

    it('lists the new errors of a version', async () => {
      const since = fixture.clock.iso();
      const { ref } = await create({ app_version: '2.0' });
      await create({ app_version: '1.9' });
      const evidence = { networks: 1, reports: 0 };
      const found = await fixture.faults.list('alpha', '2.0.0', since, evidence, 10);
      expect(found.map((one) => one.ref)).to.deep.equal([ref]);
      expect(await fixture.faults.count('alpha', '2.0.0', since, evidence)).to.equal(1);
    });
  });
}
