/**
 * Severity, regression, muting and releases (contract 20, severity, regression, release; contract
 * 21, ignore rules).
 */
import { expect } from 'chai';
import { compareVersions, isVersion } from '../../../../lib/versions.js';
import { evaluateRegression } from '../../../../plugins/bugs/builds/regression.js';
import { chooseSlot } from '../../../../plugins/bugs/item/payload-sampling.js';
import { HOT_QUERIES } from '../hot-queries.js';
import { COLLECTIONS } from '../../../../plugins/bugs/collections.js';
import { errorReport, itemIn, MANAGER, memoryFixture, report, settled, shown, type Fixture } from '../fixture.js';

describe('bugs: pure rules', () => {
  it('compares versions by numeric segments of any length, with suffixes as in SemVer', () => {
    const ascending = [
      '0.9',
      '1.0-alpha',
      '1.0-alpha.1',
      '1.0-alpha.beta',
      '1.0-beta',
      '1.0-beta.2',
      '1.0-beta.11',
      '1',
      '1.9.0',
      '1.10',
      '99999999999999999999.1',
    ];
    for (const [i, a] of ascending.entries()) {
      for (const [j, b] of ascending.entries())
        expect(Math.sign(compareVersions(a, b)), `${a} ${b}`).to.equal(Math.sign(i - j));
    }
    expect(compareVersions('1.2', '1.2.0')).to.equal(0);
    expect(compareVersions('01.2', '1.2')).to.equal(0);
    expect(['1', '1.2.3.4.5.6', '1-rc.1'].every(isVersion)).to.equal(true);
    expect(['', 'v1', '1.2.3.4.5.6.7', '1..2', '1-'].some(isVersion)).to.equal(false);
  });

  const at = Date.parse('2026-11-20T08:00:00.000Z');
  const fixed = (fields: object) => ({
    resolved_in_build: null,
    resolved_at: new Date(at).toISOString(),
    closed_at: null,
    ...fields,
  });
  const cases: [string, object, string | null, number, string][] = [
    ['the fixed version', { resolved_in_build: '1.10' }, '1.10.0', 0, 'regression'],
    ['a later version', { resolved_in_build: '1.9' }, '1.10', 0, 'regression'],
    ['an earlier version', { resolved_in_build: '1.10' }, '1.9', 9e9, 'late'],
    ['no version', { resolved_in_build: '1.10' }, null, 9e9, 'late'],
    ['a version with a leading v', { resolved_in_build: '1.10' }, 'v2', 0, 'regression'],
    ['a version outside the grammar', { resolved_in_build: '1.10' }, '9fceb02', 9e9, 'late'],
    ['no version, of an unknown build name', { resolved_in_build: 'weekly' }, null, 9e9, 'late'],
    ['a build name that stands for its version', { resolved_in_build: 'nightly' }, '2.0', 0, 'regression'],
    ['an unknown build name', { resolved_in_build: 'weekly' }, '2.0', 0, 'counted'],
    ['without build, within the minute', {}, '9.9', 60_000, 'counted'],
    ['without build, after it', {}, null, 60_001, 'regression'],
    [
      'closed without resolved',
      { resolved_at: null, closed_at: new Date(at + 5000).toISOString() },
      null,
      65_000,
      'counted',
    ],
  ];
  for (const [name, fields, version, after, verdict] of cases) {
    it(`evaluates ${name}: ${verdict}`, () => {
      expect(evaluateRegression(fixed(fields), version, at + after, [{ version: '2.0', build: 'nightly' }])).to.equal(
        verdict,
      );
    });
  }

  it('fills 50 slots, then samples uniformly', () => {
    expect(Array.from({ length: 50 }, (_, i) => chooseSlot(i + 1, () => 0.99))).to.deep.equal(
      Array.from({ length: 50 }, (_, i) => i),
    );
    expect(chooseSlot(51, () => 0.999)).to.equal(null);
    expect(chooseSlot(51, () => 0)).to.equal(5);
    expect(chooseSlot(1000, () => 44 / 995)).to.equal(49);
  });

  it('declares an index, a selective value or a sort index for every hot query', () => {
    for (const { collection, filter, sort, for: what } of HOT_QUERIES) {
      const { indexes, values = [] } = COLLECTIONS.find(({ name }) => name === collection) ?? { indexes: [] };
      const [order] = sort.map(([path]) => path);
      const wanted = [...new Set([...filter, ...(order === undefined ? [] : [order])])];
      const isIndexed = indexes.some(({ fields }) => wanted.every((path, i) => fields[i] === path));
      const isWalked = order !== undefined && indexes.some(({ fields }) => fields[0] === order);
      expect(isIndexed || isWalked || wanted.some((path) => values.includes(path)), what).to.equal(true);
    }
  });
});

describe('bugs: effects of occurrences', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const reported = async (): Promise<string[]> => {
    await settled(fixture);
    return fixture.told.map(({ event }) => event);
  };

  it('reopens an item that recurs in the fixed version, one severity step higher', async () => {
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.0' }));
    await fixture.edits.edit(id, MANAGER, { status: 'resolved', resolved_in_build: '1.1' });
    const late = await fixture.bugs.record(errorReport({ app_version: '1.0' }));
    expect(late).to.include({ regression: false, hit_count: 2 });
    expect(late.item).to.include({ status: 'resolved', late_count: 1, last_build: '1.0' });
    const again = await fixture.bugs.record(errorReport({ app_version: '1.1.0' }));
    expect(again).to.include({ regression: true, hit_count: 3 });
    expect(again.item).to.include({
      status: 'open',
      regression: true,
      regression_count: 1,
      regressed_in_build: '1.1.0',
      resolved_in_build: null,
      severity: 'critical',
      late_count: 1,
    });
    expect(await reported()).to.deep.equal(['bug.created', 'bug.resolved', 'bug.created', 'bug.critical']);
    expect(fixture.told[2]?.data).to.include({ regression: true, severity: 'critical', item_status: 'open' });
  });

  it('counts a regression once for parallel occurrences', async () => {
    const { id } = await fixture.bugs.record(errorReport());
    await fixture.edits.edit(id, MANAGER, { status: 'closed' });
    fixture.clock.advance(61_000);
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.bugs.record(errorReport())));
    expect(answers.filter(({ regression }) => regression)).to.have.lengthOf(1);
    expect(await shown(fixture, id)).to.include({ hit_count: 21, regression_count: 1, status: 'open' });
  });

  it('never reopens wont_fix and features', async () => {
    const declined = await itemIn(fixture, 'wont_fix', 'Declined');
    fixture.clock.advance(100_000);
    await fixture.bugs.record(report({ title: 'Declined' }));
    expect(await shown(fixture, declined)).to.include({ status: 'wont_fix', hit_count: 2 });
    const wish = await fixture.bugs.record(report({ type: 'feature', title: 'Dark mode' }));
    await fixture.edits.edit(wish.id, MANAGER, { status: 'closed' });
    fixture.clock.advance(100_000);
    const again = await fixture.bugs.record(report({ type: 'feature', title: 'Dark mode' }));
    expect(again).to.include({ id: wish.id, created: false });
    expect(again.item.status).to.equal('closed');
    expect((await reported()).filter((event) => event === 'feature.created')).to.have.lengthOf(1);
  });

  it('raises severity by the rolling hour, never lowers it, and never when locked', async () => {
    const { id } = await fixture.bugs.record(report());
    for (let i = 1; i < 99; i++) await fixture.bugs.record(report());
    expect((await shown(fixture, id)).severity).to.equal('medium');
    expect((await fixture.bugs.record(report())).item).to.include({ severity: 'high', hour_count: 100 });
    fixture.clock.advance(61 * 60_000);
    expect(await shown(fixture, id)).to.include({ severity: 'high', hour_count: 0, hit_count: 100 });
    await fixture.edits.edit(id, MANAGER, { severity: 'low' });
    for (let i = 0; i < 100; i++) await fixture.bugs.record(report());
    expect(await shown(fixture, id)).to.include({ severity: 'low', hour_count: 100 });
    expect(Object.keys((await fixture.deps.items.get(id))?.minutes ?? {})).to.have.lengthOf(2);
  });

  it('raises severity with a higher error_level', async () => {
    const { id } = await fixture.bugs.record(errorReport({ error_level: 'warning', severity: 'medium' }));
    expect((await fixture.bugs.record(errorReport({ error_level: 'warning' }))).item.severity).to.equal('medium');
    expect(
      (await fixture.bugs.record(errorReport({ error_level: 'error', environment: 'staging' }))).item.severity,
    ).to.equal('medium');
    expect((await fixture.bugs.record(errorReport({ error_level: 'fatal' }))).item).to.include({
      severity: 'critical',
      error_level: 'fatal',
    });
    expect(await reported()).to.deep.equal(['bug.created', 'bug.critical']);
    expect((await shown(fixture, id)).rev).to.equal(2);
  });

  it('emits nothing for a muted item until an occurrence matches no ignore rule', async () => {
    const muted_by = { rule_id: 'rule-1', reason: 'known noise' };
    const { id } = await fixture.bugs.record(errorReport({ severity: 'critical', error_level: 'fatal', muted_by }));
    expect(await shown(fixture, id)).to.include({
      muted: true,
      muted_reason: 'known noise',
      muted_by_rule_id: 'rule-1',
    });
    await fixture.bugs.record(errorReport({ error_level: 'fatal', muted_by }));
    expect(await reported()).to.deep.equal([]);
    const loud = await fixture.bugs.record(errorReport({ error_level: 'fatal' }));
    expect(loud.item).to.include({ muted: false, muted_by_rule_id: null, hit_count: 3 });
    expect(await reported()).to.deep.equal(['bug.created', 'bug.critical']);
    await fixture.bugs.record(errorReport({ muted_by }));
    expect(await shown(fixture, id)).to.include({ muted: true, hit_count: 4 });
  });

  it('unmutes items of a deleted rule, and the next occurrence emits the missing event', async () => {
    const muted_by = { rule_id: 'rule-1', reason: 'known noise' };
    await fixture.bugs.record(errorReport({ muted_by }));
    expect(await fixture.bugs.unmuteByRule('rule-1')).to.equal(1);
    expect(await reported()).to.deep.equal([]);
    await fixture.bugs.record(errorReport());
    await fixture.bugs.record(errorReport());
    expect(await reported()).to.deep.equal(['bug.created']);
  });

  it('closes items fixed by a publish, by version or build, except wont_fix and duplicates', async () => {
    const set = async (title: string, status: string, build: string): Promise<string> => {
      const id = await itemIn(fixture, status, title);
      await fixture.edits.edit(id, MANAGER, { resolved_in_build: build });
      return id;
    };
    const byVersion = await set('version', 'resolved', '2.0');
    const byBuild = await set('build', 'open', 'nightly');
    const declined = await set('declined', 'wont_fix', '2.0');
    const later = await set('later', 'open', '2.1');
    await fixture.bugs.handleReleasePublished({
      id: 'evt_1',
      event: 'release.published',
      timestamp: fixture.clock.iso(),
      project_slug: 'alpha',
      data: {
        product: 'alpha',
        version: '2.0.0',
        build: 'nightly',
        channel: 'stable',
        platform: 'any',
        signed: true,
        closed_items: [],
        closed_count: 0,
      },
    });
    const statuses = await Promise.all(
      [byVersion, byBuild, declined, later].map(async (id) => (await shown(fixture, id)).status),
    );
    expect(statuses).to.deep.equal(['closed', 'closed', 'wont_fix', 'open']);
    await fixture.published('2.1');
    await fixture.jobs.sweep();
    expect((await shown(fixture, later)).status).to.equal('closed');
    expect((await reported()).filter((event) => event === 'bug.resolved')).to.have.lengthOf(3);
  });
});
