/** New groups and regressions by version (ports/domain/bugs.ts, VersionFaults), on every engine. */
import { expect } from 'chai';
import type { Report } from '../../../../ports/domain/bugs.js';
import { ENGINES, errorReport, fixtureOn, MANAGER, settled, type Fixture } from '../fixture.js';

const HOUR = 3_600_000;

for (const engine of ENGINES) {
  describe(`bugs: faults of a version (${engine.name})`, () => {
    let fixture: Fixture;
    let close = async (): Promise<void> => undefined;
    let counted: string[];
    let since: string;

    beforeEach(async function () {
      const opened = await engine.open(() => this.skip());
      counted = [];
      fixture = process_(opened.store);
      since = fixture.clock.iso();
      close = async () => {
        await settled(fixture);
        await opened.close();
      };
    });
    afterEach(() => close());

    const process_ = (store: Fixture['store']): Fixture =>
      fixtureOn(store, undefined, (deps) => {
        deps.faultWatchers = () => [{ counted: (project, version) => void counted.push(`${project} ${version}`) }];
      });
    const count = (version = '1.2', project = 'alpha'): Promise<number> =>
      fixture.faults.count(project, version, since);
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

    it('a new group by a token counts at once, for its version in any spelling and no other, in its project', async () => {
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

    it('further occurrences of a group, of whatever version, count nothing', async () => {
      const one = group();
      for (const app_version of ['1.2', '1.3', '1.2', null]) await send({ ...one, app_version });
      expect(await count()).to.equal(1);
      expect(await count('1.3')).to.equal(0);
      expect(counted).to.deep.equal(['alpha 1.2']);
    });

    it('what intake keys alone report counts from the second address on; an IPv6 network is one', async () => {
      const one = group();
      for (let i = 0; i < 5; i++) await send(stranger('2001:db8:1:2::a', one));
      await send(stranger('2001:db8:1:2:ffff::b', one));
      expect(await count()).to.equal(0);
      expect(counted).to.deep.equal([]);
      await send(stranger('2001:db8:1:3::a', one));
      expect(await count()).to.equal(1);
      for (const address of ['192.0.2.1', '192.0.2.2', '2001:db8:1:2::a']) await send(stranger(address, one));
      expect(await count()).to.equal(1);
      expect(counted).to.deep.equal(['alpha 1.2']);
    });

    it('a token confirms what a key reported', async () => {
      const one = group();
      await send(stranger('192.0.2.1', one));
      await send(one);
      expect(await count()).to.equal(1);
    });

    it('a regression counts for the version that brought it back, and waits for a second sender anew', async () => {
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
      await send(stranger('192.0.2.2', { ...one, app_version: '1.3' }));
      expect(await count('1.3')).to.equal(1);
      expect(counted).to.deep.equal(['alpha 1', 'alpha 1.2', 'alpha 1.3']);
    });

    it('counts within the window alone: since when it counts, not since when it was seen', async () => {
      const one = group();
      await send(stranger('192.0.2.1', one));
      await send(group());
      fixture.clock.advance(HOUR);
      since = fixture.clock.iso();
      expect(await count()).to.equal(0);
      await send(stranger('192.0.2.2', one));
      expect(await count()).to.equal(1);
    });

    it('muted groups and duplicates do not count', async () => {
      await send(group({ muted_by: { rule_id: 'r', reason: 'noise' } }));
      const kept = await send(group());
      const merged = await send(group());
      await fixture.merging.merge(merged.id, kept.id, MANAGER);
      expect(await count()).to.equal(1);
    });

    it('of many processes exactly one makes it count, and no address is stored in clear', async () => {
      const one = group();
      const others = [process_(fixture.store), process_(fixture.store), process_(fixture.store)];
      const { id } = await send(stranger('192.0.2.1', one));
      const waiting = await fixture.deps.items.get(id);
      expect(waiting?.lone_fault?.key).to.equal('alpha 1.2');
      expect(JSON.stringify(waiting)).not.to.include('192.0.2.1');
      await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          send(stranger(`192.0.2.${i % 6}`, one), others[i % others.length] ?? fixture),
        ),
      );
      expect(counted).to.deep.equal(['alpha 1.2']);
      expect(await count()).to.equal(1);
      const item = await fixture.deps.items.get(id);
      expect(item).to.include({ fault_key: 'alpha 1.2', hit_count: 25 });
      expect(item).not.to.have.property('lone_fault');
    });

    it('first reports from two addresses at once count, whoever made the group', async () => {
      const one = group();
      const other = process_(fixture.store);
      await Promise.all([send(stranger('192.0.2.1', one)), send(stranger('192.0.2.2', one), other)]);
      expect(await count()).to.equal(1);
    });
  });
}
