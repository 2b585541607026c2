/**
 * The whole cycle of an item: fixed, shipped by a release, back again or late; and how its severity
 * rises (contract 20, severity, regression, release). The release comes as an event through the
 * kernel, as the update service will send it.
 */
import { fakeAccess } from '../../../support/fake-access.js';
import { expect } from 'chai';
import fc from 'fast-check';
import bugs from '../../../../plugins/bugs/plugin.js';
import { definePlugin, type PluginContext } from '../../../../kernel/contract/index.js';
import { BUGS, type BugsApi, type ReportResult } from '../../../../ports/domain/bugs.js';
import type { ReleasePublished } from '../../../../ports/domain/releases.js';
import { hashWithinProject } from '../../../../plugins/bugs/item/document-ids.js';
import type { BuildDoc, ItemDoc } from '../../../../plugins/bugs/item/model.js';
import { evaluateRegression } from '../../../../plugins/bugs/builds/regression.js';
import { bootTestKernel, waitUntil, type TestKernel } from '../../../harness.js';
import { createFakeProjects } from '../../../support/fake-projects.js';
import { errorReport, MANAGER, memoryFixture, report, settled, shown, type Fixture } from '../fixture.js';

const HOUR = 3_600_000;

describe('bugs: regressions of a fixed item', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await memoryFixture()));

  async function fixed(fields: object): Promise<string> {
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.0' }));
    await fixture.edits.edit(id, MANAGER, fields);
    return id;
  }
  const again = (fields: Parameters<typeof errorReport>[0]): Promise<ReportResult> =>
    fixture.bugs.record(errorReport(fields));

  it('treats occurrences at or above the fixed build as a regression and earlier ones as late', async () => {
    const id = await fixed({ status: 'closed', resolved_in_build: '2.10' });
    for (const app_version of ['2.9.99', '2.10-rc.1', '1'])
      expect(await again({ app_version })).to.include({ regression: false });
    const before = await shown(fixture, id);
    expect(before).to.include({
      status: 'closed',
      late_count: 3,
      hit_count: 4,
      regression_count: 0,
      last_build: '1',
      rev: 2,
    });
    expect(await again({ app_version: '2.10.0' })).to.include({ regression: true });
    expect(await shown(fixture, id)).to.include({
      status: 'open',
      regression: true,
      regression_count: 1,
      regressed_in_build: '2.10.0',
      regressed_at: fixture.clock.iso(),
      resolved_in_build: null,
      closed_at: null,
      late_count: 3,
    });
  });

  it('without a build, treats occurrences over 60 s after the fix as a regression, for any version', async () => {
    const id = await fixed({ status: 'resolved' });
    const at = Date.parse((await shown(fixture, id)).resolved_at ?? '');
    const iso = (ms: number): string => new Date(at + ms).toISOString();
    fixture.clock.advance(2 * HOUR);
    expect(await again({ occurred_at: iso(-1) })).to.include({ regression: false });
    expect(await again({ occurred_at: iso(60_000), app_version: '9.9' })).to.include({ regression: false });
    expect((await shown(fixture, id)).status).to.equal('resolved');
    expect(await again({ occurred_at: iso(60_001), app_version: '0.0.1' })).to.include({ regression: true });
  });

  it('without a build, replaces a time in the future by the receive time', async () => {
    await fixed({ status: 'resolved' });
    fixture.clock.advance(30_000);
    const future = new Date(fixture.clock.now() + HOUR).toISOString();
    expect(await again({ occurred_at: future })).to.include({ regression: false });
  });

  it('without a build, counts from resolved_at even if the item was closed later', async () => {
    const id = await fixed({ status: 'resolved' });
    fixture.clock.advance(HOUR);
    await fixture.edits.edit(id, MANAGER, { status: 'closed' });
    fixture.clock.advance(30_000);
    expect(await again({})).to.include({ regression: true });
  });

  it('with a build, counts an occurrence without a version as late, not as a regression', async () => {
    const id = await fixed({ status: 'closed', resolved_in_build: '2.0' });
    fixture.clock.advance(HOUR);
    for (const app_version of [null, 'v1.9', 'main-4f2a', ''])
      expect(await again({ app_version })).to.include({ regression: false });
    expect(await shown(fixture, id)).to.include({ status: 'closed', late_count: 4, hit_count: 5 });
  });

  it('compares versions by numeric segments in any notation (property)', () => {
    const segments = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 4 });
    const spell = (parts: number[], zeros: number): string => [...parts, ...Array<number>(zeros).fill(0)].join('.');
    const compare = (a: number[], b: number[]): number => {
      for (let i = 0; i < 6; i++) if ((a[i] ?? 0) !== (b[i] ?? 0)) return (a[i] ?? 0) - (b[i] ?? 0);
      return 0;
    };
    fc.assert(
      fc.property(segments, segments, fc.nat({ max: 2 }), fc.nat({ max: 2 }), (build, version, x, y) => {
        const item = { resolved_in_build: spell(build, x), resolved_at: null, closed_at: null };
        const expected = compare(version, build) >= 0 ? 'regression' : 'late';
        expect(evaluateRegression(item, spell(version, y), 0, [])).to.equal(expected);
      }),
    );
  });
});

describe('bugs: severity', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = await memoryFixture()));

  it('escalates by the rolling hour: high at 100, critical at 1,000 with one event', async () => {
    const { id } = await fixture.bugs.record(report({ severity: 'low' }));
    const bump = async (minute: number, n: number): Promise<void> => {
      await fixture.deps.items.change({ id }, { inc: { [`minutes.m${minute}`]: n, hit_count: n } });
    };
    const minute = (): number => Math.floor(fixture.clock.now() / 60_000);
    await bump(minute() - 60, 5000);
    for (let i = 0; i < 98; i++) await fixture.bugs.record(report());
    expect((await shown(fixture, id)).severity).to.equal('low');
    expect((await fixture.bugs.record(report())).item).to.include({ severity: 'high', hour_count: 100 });
    await bump(minute() - 59, 898);
    expect((await fixture.bugs.record(report())).item).to.include({ severity: 'high', hour_count: 999 });
    expect((await fixture.bugs.record(report())).item).to.include({ severity: 'critical', hour_count: 1000 });
    await fixture.bugs.record(report());
    await settled(fixture);
    expect(fixture.told.map(({ event }) => event)).to.deep.equal(['bug.created', 'bug.critical']);
    fixture.clock.advance(2 * HOUR);
    expect((await fixture.bugs.record(report())).item).to.include({ severity: 'critical', hour_count: 1 });
  });

  it('raises the severity of a muted item without an event', async () => {
    const muted_by = { rule_id: 'r', reason: 'noise' };
    for (let i = 0; i < 100; i++)
      await fixture.bugs.record(errorReport({ muted_by, severity: 'medium', error_level: 'warning' }));
    const raised = await fixture.bugs.record(errorReport({ muted_by, error_level: 'fatal' }));
    expect(raised.item).to.include({ severity: 'critical', muted: true });
    await settled(fixture);
    expect(fixture.told).to.deep.equal([]);
    await fixture.bugs.record(errorReport());
    await settled(fixture);
    expect(fixture.told.map(({ event }) => event)).to.deep.equal(['bug.created', 'bug.critical']);
  });

  it('stores a higher error level that does not raise severity without a new revision', async () => {
    const first = await fixture.bugs.record(errorReport({ error_level: 'warning', severity: 'critical' }));
    const again = await fixture.bugs.record(errorReport({ error_level: 'fatal', severity: 'critical' }));
    expect(again.item).to.include({ rev: first.item.rev, error_level: 'fatal', severity: 'critical' });
    await fixture.edits.edit(first.id, MANAGER, { severity: 'low' });
    const locked = await shown(fixture, first.id);
    await fixture.bugs.record(errorReport({ error_level: 'fatal' }));
    expect(await shown(fixture, first.id)).to.include({ rev: locked.rev, severity: 'low', severity_locked: true });
  });

  it('raises severity by one step on a regression, unless it is locked', async () => {
    for (const [before, locked, after] of [
      ['low', false, 'medium'],
      ['high', false, 'critical'],
      ['critical', false, 'critical'],
      ['medium', true, 'medium'],
    ] as const) {
      const title = `Regresses ${before}`;
      const { id } = await fixture.bugs.record(report({ title, severity: before }));
      await fixture.edits.edit(id, MANAGER, { status: 'resolved', resolved_in_build: '1.0', severity_locked: locked });
      await fixture.bugs.record(report({ title, app_version: '1.0' }));
      expect((await shown(fixture, id)).severity, before).to.equal(after);
    }
  });
});

describe('bugs: release.published', () => {
  let service: TestKernel;
  let publish: (project: string, release: Partial<ReleasePublished>) => Promise<boolean>;
  let api: BugsApi;

  const projects = createFakeProjects();
  const releases = definePlugin({
    id: 'releases',
    version: '1.0.0',
    api: 1,
    title: 'Releases',
    needs: [BUGS.name],
    events: ['release.published'],
    setup: (ctx: PluginContext) => {
      api = ctx.resolve(BUGS);
      publish = (project, release) =>
        ctx.emit(
          'release.published',
          {
            product: project,
            build: null,
            channel: 'stable',
            platform: 'any',
            signed: true,
            closed_items: [],
            closed_count: 0,
            ...release,
          },
          { project_slug: project },
        );
      return {};
    },
  });

  beforeEach(async () => {
    service = await bootTestKernel([fakeAccess, projects, bugs, releases]);
  });
  afterEach(() => service.stop());

  const stored = (id: string): Promise<ItemDoc | null> => service.store.collection<ItemDoc>('bugs_items').get(id);
  async function waiting(title: string, resolved_in_build: string, project = 'alpha'): Promise<string> {
    return (await api.record(report({ title, resolved_in_build, project }))).id;
  }

  it('closes items fixed by its version or build, in its project only', async () => {
    const byVersion = await waiting('By version', '1.2');
    const byBuild = await waiting('By build', 'nightly-7');
    const later = await waiting('Later', '1.3');
    const elsewhere = await waiting('Elsewhere', '1.2', 'beta');
    expect(await publish('alpha', { version: '1.2.0', build: 'nightly-7' })).to.equal(true);
    for (const id of [byVersion, byBuild]) {
      const item = await stored(id);
      expect(item).to.include({ status: 'closed' });
      expect(item?.closed_at).to.be.a('string');
    }
    for (const id of [later, elsewhere]) expect(await stored(id)).to.include({ status: 'open', closed_at: null });
    expect(await publish('alpha', { version: '1.2.0', build: 'nightly-7' })).to.equal(true);
    expect(await stored(byVersion)).to.include({ status: 'closed' });
  });

  it('closes items in the background job when the event was missed', async () => {
    const id = await waiting('Missed', '3.1.0');
    // A publish that was cut off between its first write and its second.
    const build: BuildDoc = {
      id: hashWithinProject('alpha', '3.1'),
      project: 'alpha',
      version: '3.1',
      build: null,
      published_at: '',
    };
    await service.store.collection<BuildDoc>('bugs_builds').insert(build);
    await service.jobs.runNow('bugs.sweep');
    await waitUntil('it is closed', async () => (await stored(id))?.status === 'closed');
  });

  it('returns the closed items to the update service, and closes none for a withdrawn release', async () => {
    const fixed = await waiting('Fixed', 'b5');
    expect(await api.recordRelease('alpha', { version: '5.0', build: 'b5' })).to.deep.equal([fixed]);
    expect(await api.listRefs([fixed, 'gone'])).to.deep.equal([(await stored(fixed))?.ref]);
    expect(await api.recordRelease('alpha', { version: '5', build: 'b5' })).to.deep.equal([]);
    await api.withdrawRelease('alpha', '5.0.0');
    const later = await waiting('Later', '5.0');
    expect(await stored(later)).to.include({ status: 'open' });
    await service.jobs.runNow('bugs.sweep');
    expect(await stored(later)).to.include({ status: 'open' });
    expect(await api.recordRelease('alpha', { version: '5.0', build: null })).to.deep.equal([later]);
  });

  it('returns the same ids when a publish is repeated after a crash', async () => {
    const [first, second] = [await waiting('First', '6.0'), await waiting('Second', 'b6')];
    const act = { version: '6.0', build: 'b6', publication: 'act-1' };
    expect(await api.recordRelease('alpha', act)).to.deep.equal([first, second]);
    expect(await api.recordRelease('alpha', act)).to.deep.equal([first, second]);
    const raced = await waiting('Raced', '6');
    expect(await stored(raced)).to.include({ status: 'closed', closed_by: 'act-1' });
    expect(await api.recordRelease('alpha', act)).to.deep.equal([first, second, raced]);
    expect(await publish('alpha', { version: '6.0', build: 'b6' })).to.equal(true);
    expect(await api.recordRelease('alpha', { ...act, publication: 'act-2' })).to.deep.equal([]);
    for (const id of [first, second, raced]) expect(await stored(id)).to.include({ closed_by: 'act-1', rev: 2 });
  });

  it('closes each item once in many concurrent publishes, with a single event', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, i) => waiting(`Many ${'abcdefghijkl'[i]}`, '8.0')));
    const acts = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        api.recordRelease('alpha', { version: '8.0', build: null, publication: `p${i}` }),
      ),
    );
    expect(acts.flat().toSorted()).to.deep.equal(ids.toSorted());
    for (const id of ids) {
      const activity = await service.store
        .collection('bugs_activity')
        .find({ filter: { item_id: id, action: 'status' }, limit: 10 });
      expect(activity.items).to.have.length(1);
    }
  });

  it('closes items for every build name of a version, on every platform', async () => {
    const [linux, windows] = [await waiting('Linux', 'b7-linux'), await waiting('Windows', 'b7-windows')];
    expect(await api.recordRelease('alpha', { version: '7.0', build: 'b7-linux' })).to.deep.equal([linux]);
    expect(await api.recordRelease('alpha', { version: '7.0', build: 'b7-windows' })).to.deep.equal([windows]);
    expect(await api.recordRelease('alpha', { version: '7.0', build: null })).to.deep.equal([]);
    for (const build of ['b7-linux', 'b7-windows', '7.0.0'])
      expect(await stored(await waiting(`Later ${build}`, build))).to.include({ status: 'closed' });
    await api.withdrawRelease('alpha', '7');
    for (const build of ['b7-linux', 'b7-windows', '7.0.0'])
      expect(await stored(await waiting(`Withdrawn ${build}`, build))).to.include({ status: 'open' });
  });

  it('closes immediately for a published build, and treats older installations as late', async () => {
    expect(await api.recordRelease('alpha', { version: '4.0', build: 'b4' })).to.deep.equal([]);
    const id = await waiting('At once', 'b4');
    expect(await stored(id)).to.include({ status: 'closed', resolved_in_build: 'b4' });
    const late = await api.record(report({ title: 'At once', app_version: '3.9' }));
    expect(late).to.include({ regression: false });
    expect(await stored(id)).to.include({ status: 'closed', late_count: 1 });
    expect(await api.record(report({ title: 'At once', app_version: '4.0.0' }))).to.include({ regression: true });
  });
});
