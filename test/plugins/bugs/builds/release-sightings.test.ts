/** An item among the releases of its project. */
import { expect } from 'chai';
import { buildPublishMarks } from '../../../../plugins/bugs/pages/item/chart-section.js';
import { formatDuration } from '../../../../plugins/bugs/pages/item/releases-section.js';
import { toIsoString } from '../../../../lib/time.js';
import type { BuildCommit } from '../../../../ports/domain/releases.js';
import { errorReport, MANAGER, memoryFixture, type Fixture } from '../fixture.js';

const MINUTE = 60_000;
const commit = (id: string, fields: Partial<BuildCommit> = {}): BuildCommit => ({
  id: id.padEnd(40, '0'),
  author_name: 'Ada',
  timestamp: '2026-11-20T10:00:00.000Z',
  message: `message of ${id}`,
  files: [],
  ...fields,
});

describe('bugs: releases in the timeline', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const detail = async (id: string) => fixture.lists.getDetail(id, MANAGER);
  const keep = (version: string, commits: BuildCommit[]) =>
    fixture.history.save('alpha', version, { range: '1.3.0..HEAD', commits, truncated: false });

  it('returns the time from the first publish of a version to its first occurrence', async () => {
    const published = fixture.clock.iso();
    await fixture.published('1.4.0');
    fixture.clock.advance(5 * MINUTE);
    // Another platform, and the same publish again.
    await fixture.published('1.4');
    fixture.clock.advance(7 * MINUTE);
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.4.0' }));
    expect(await detail(id)).to.deep.include({
      first_release: { version: '1.4', published_at: published, seconds_after: 720 },
      regressed_release: null,
      suspect_commits: [],
    });
  });

  it('returns nothing for a version that is unpublished or withdrawn', async () => {
    await fixture.published('1.4.0');
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.4.1' }));
    expect((await detail(id)).first_release).to.equal(null);
    const other = await fixture.bugs.record(errorReport({ app_version: '1.4.0', exception_class: 'F' }));
    await fixture.bugs.withdrawRelease('alpha', '1.4.0');
    expect((await detail(other.id)).first_release).to.equal(null);
  });

  it('lists the commits of the version, those that touched the failing file first', async () => {
    await fixture.published('1.4.0');
    await keep('1.4.0', [commit('a', { files: ['README.md'] }), commit('b', { files: ['shop/src/cart.ts'] })]);
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.4' }));
    const { suspect_commits } = await detail(id);
    expect(suspect_commits.map(({ id: hash, touched }) => [hash[0], touched])).to.deep.equal([
      ['b', 'shop/src/cart.ts'],
      ['a', null],
    ]);
    expect(suspect_commits[0]).to.deep.include({
      author_name: 'Ada',
      message: 'message of b',
      untrusted_fields: ['author_name', 'message', 'files', 'touched'],
    });
  });

  it('lists the commits of the version in which the error reappeared', async () => {
    await fixture.published('1.4.0');
    await fixture.published('1.5.0');
    await keep('1.4.0', [commit('a')]);
    await keep('1.5.0', [commit('b')]);
    const { id } = await fixture.bugs.record(errorReport({ app_version: '1.4.0' }));
    await fixture.edits.editWithDetails(id, MANAGER, { status: 'resolved' });
    fixture.clock.advance(10 * MINUTE);
    await fixture.bugs.record(errorReport({ app_version: '1.5.0' }));
    const { regressed_release, suspect_commits } = await detail(id);
    expect(regressed_release).to.include({ version: '1.5.0', seconds_after: 600 });
    expect(suspect_commits.map(({ id: hash }) => hash[0])).to.deep.equal(['b']);
  });

  it('retains the newest commits, one line each, without secrets', async () => {
    const hostile = commit('c', {
      message: `password=hunter2secret ${'x'.repeat(400)}\nsecond`,
      files: Array.from({ length: 300 }, (_, i) => `${i}/${'f'.repeat(500)}`),
    });
    const kept = await keep(
      '1.4.0',
      Array.from({ length: 700 }, () => hostile),
    );
    expect(kept).to.include({ truncated: true });
    expect(kept.commits).to.have.length(500);
    const [first, last] = [kept.commits[0], kept.commits.at(-1)];
    expect(first?.files).to.have.length(100);
    expect(first?.files[0]).to.have.length(300);
    expect(first?.message).to.have.length(200).and.not.include('hunter2secret');
    expect(last?.files).to.deep.equal([]);
    expect(JSON.stringify(await fixture.history.find('alpha', '1.4')).length).to.be.below(2_500_000);
    await keep('1.4.0', []);
    expect((await fixture.history.find('alpha', '1.4.0'))?.commits).to.deep.equal([]);
  });

  it('marks each version published in the charts’ time range once', async () => {
    await fixture.published('1.0.0', 'nightly');
    fixture.clock.advance(31 * 24 * 60 * MINUTE);
    await fixture.published('1.4.0', 'b1');
    await fixture.published('1.4.0', 'b2');
    fixture.clock.advance(60 * MINUTE);
    await fixture.published('1.5.0');
    await fixture.published('9.9.9', null, 'beta');
    const publishes = await fixture.timeline.listRecentPublishes('alpha', 30 * 24 * 60 * MINUTE);
    expect(publishes.map(({ version }) => version)).to.deep.equal(['1.5.0', '1.4.0']);
  });

  it('places a mark at its position among the chart columns', () => {
    const now = Date.parse('2026-11-25T12:30:00.000Z');
    const at = (iso: string) =>
      buildPublishMarks([{ version: '1', published_at: iso }], now, { unit: 60 * MINUTE, length: 24 });
    expect(at('2026-11-24T13:00:00.000Z')).to.deep.equal([{ at: 0, label: '1' }]);
    expect(at('2026-11-25T01:00:00.000Z')).to.deep.equal([{ at: 0.5, label: '1' }]);
    expect(at('2026-11-24T12:59:59.000Z')).to.deep.equal([]);
    expect(at(toIsoString(now))[0]?.at).to.be.closeTo(23.5 / 24, 1e-9);
  });

  it('formats a span in its largest whole unit', () => {
    expect([0, 59, 60, 720, 3_599, 7_200, 86_400].map(formatDuration)).to.deep.equal([
      '0 seconds',
      '59 seconds',
      '1 minute',
      '12 minutes',
      '59 minutes',
      '2 hours',
      '1 day',
    ]);
  });
});
