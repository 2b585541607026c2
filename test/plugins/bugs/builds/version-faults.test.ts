/** New groups and regressions by version (ports/domain/bugs.ts, VersionFaults), on every engine. */
import { expect } from 'chai';
import type { PublicEvidence, Report } from '../../../../ports/domain/bugs.js';
import { ENGINES, errorReport, fixtureOn, MANAGER, settled, type Fixture } from '../fixture.js';
import { useStore } from '../../../support/stores.js';

const HOUR = 3_600_000;

for (const engine of ENGINES) {
  describe(`bugs: faults of a version (${engine.name})`, () => {
    let fixture: Fixture;
    let counted: string[];
    let since: string;
    let evidence: PublicEvidence;

    useStore(
      engine,
      (store) => {
        counted = [];
        evidence = { networks: 2, reports: 0 };
        fixture = process_(store);
        since = fixture.clock.iso();
      },
      { end: () => settled(fixture) },
    );

    const process_ = (store: Fixture['store']): Fixture =>
      fixtureOn(store, undefined, (deps) => {
        deps.faultWatchers = () => [
          { onFaultCounted: (project, version) => void counted.push(`${project} ${version}`) },
        ];
      });
    const count = (version = '1.2', project = 'alpha'): Promise<number> =>
      fixture.faults.count(project, version, since, evidence);
    let made = 0;
    const group = (fields: Partial<Report> = {}): Partial<Report> => ({
      exception_class: `E${'abcdefghijklmnop'[made++ % 16]}${made}x`,
      app_version: '1.2',
      ...fields,
    });
    const send = (fields: Partial<Report>, by = fixture) => by.bugs.record(errorReport(fields));
    const stranger = (address: string, fields: Partial<Report>): Partial<Report> => ({
      ...fields,
      intake_key: 'key',
      address,
    });

    it('counts a new group of a token immediately, for its version in any notation, in its project', async () => {
      await send(group());
      await send(group({ app_version: '1.2.0' }));
      await send(group({ app_version: '1.2.1' }));
      await send(group({ project: 'beta' }));
      for (const app_version of [null, '', 'v1.2', '1.2+388', 'main']) await send(group({ app_version }));
      await send(group({ type: 'bug' }));
      expect(await count()).to.equal(4);
      expect(await count('01.2.0.0')).to.equal(4);
      expect(await count('1.2.1')).to.equal(1);
      expect(await count('1.2', 'beta')).to.equal(1);
      expect(await count('no version')).to.equal(0);
      expect(counted).to.have.members([...Array<string>(4).fill('alpha 1.2'), 'alpha 1.2.1', 'beta 1.2']);
    });

    it('does not count further occurrences of a group in any version', async () => {
      const one = group();
      for (const app_version of ['1.2', '1.3', '1.2', null]) await send({ ...one, app_version });
      expect(await count()).to.equal(1);
      expect(await count('1.3')).to.equal(0);
      expect(counted).to.deep.equal(['alpha 1.2']);
    });

    it('counts intake-key reports from the required number of networks: /24 and /48', async () => {
      const one = group();
      for (const address of ['2001:db8:1:2::a', '2001:db8:1:3::a', '2001:db8:1:ffff:ffff::b'])
        await send(stranger(address, one));
      expect(await count()).to.equal(0);
      await send(stranger('2001:db8:2:3::a', one));
      expect(await count()).to.equal(1);
      const other = group();
      for (let i = 1; i < 255; i += 50) await send(stranger(`192.0.2.${i}`, other));
      await send(stranger('::ffff:192.0.2.9', other));
      expect(await count()).to.equal(1);
      await send(stranger('198.51.100.1', other));
      expect(await count()).to.equal(2);
      evidence = { networks: 3, reports: 0 };
      expect(await count()).to.equal(0);
      await send(stranger('203.0.113.1', other));
      expect(await count()).to.equal(1);
      evidence = { networks: 3, reports: 10 };
      expect(await count(), 'nine reports').to.equal(0);
    });

    it('stores at most 50 networks per fault', async () => {
      const one = group();
      let id = '';
      for (let i = 0; i < 60; i++) ({ id } = await send(stranger(`10.${i}.0.1`, one)));
      const item = await fixture.deps.items.get(id);
      expect([item?.public_fault?.n, item?.public_fault?.networks.length]).to.deep.equal([50, 50]);
      evidence = { networks: 1_000, reports: 0 };
      expect(await count()).to.equal(1);
    });

    it('counts a fault reported by a key when a token confirms it', async () => {
      const one = group();
      await send(stranger('192.0.2.1', one));
      await send(one);
      expect(await count()).to.equal(1);
    });

    it('counts a regression for the version that reintroduced it, after a second sender again', async () => {
      const one = group({ app_version: '1.0' });
      const { id } = await send(one);
      const fixIn = (resolved_in_build: string) =>
        fixture.edits.edit(id, MANAGER, { status: 'resolved', resolved_in_build });
      await fixIn('1.1');
      await send({ ...one, app_version: '1.2' });
      expect([await count('1.0'), await count('1.1'), await count('1.2')]).to.deep.equal([0, 0, 1]);
      await fixIn('1.3');
      await send(stranger('192.0.2.1', { ...one, app_version: '1.3' }));
      expect([await count('1.2'), await count('1.3')]).to.deep.equal([0, 0]);
      await send(stranger('198.51.100.2', { ...one, app_version: '1.3' }));
      expect(await count('1.3')).to.equal(1);
      expect([...new Set(counted)]).to.deep.equal(['alpha 1', 'alpha 1.2', 'alpha 1.3']);
    });

    it('counts faults confirmed within the window, even if first seen before it', async () => {
      const one = group();
      await send(stranger('192.0.2.1', one));
      await send(group());
      fixture.clock.advance(HOUR);
      since = fixture.clock.iso();
      expect(await count()).to.equal(0);
      await send(stranger('198.51.100.2', one));
      expect(await count()).to.equal(1);
    });

    it('ignores muted groups and duplicates', async () => {
      await send(group({ muted_by: { rule_id: 'r', reason: 'noise' } }));
      const kept = await send(group());
      const merged = await send(group());
      await fixture.merging.merge(merged.id, kept.id, MANAGER);
      expect(await count()).to.equal(1);
    });

    it('records networks from many processes without loss and never as plain addresses', async () => {
      const one = group();
      const others = [process_(fixture.store), process_(fixture.store), process_(fixture.store)];
      const { id } = await send(stranger('192.0.2.1', one));
      expect(JSON.stringify(await fixture.deps.items.get(id))).not.to.include('192.0');
      await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          send(stranger(`192.0.${i % 6}.1`, one), others[i % others.length] ?? fixture),
        ),
      );
      const item = await fixture.deps.items.get(id);
      expect(item).to.include({ fault_key: 'alpha 1.2', hit_count: 25 });
      expect(item?.public_fault?.n).to.equal(6);
      expect(new Set(item?.public_fault?.networks).size).to.equal(6);
      await send(one);
      expect(await fixture.deps.items.get(id)).not.to.have.property('public_fault');
    });

    it('counts concurrent first reports from two networks', async () => {
      const one = group();
      const other = process_(fixture.store);
      await Promise.all([send(stranger('192.0.2.1', one)), send(stranger('198.51.100.2', one), other)]);
      expect(await count()).to.equal(1);
    });
  });
}
