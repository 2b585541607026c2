import { expect } from 'chai';
import type { ErrorTraffic } from '../../../../ports/domain/bugs.js';
import { errorReport, memoryFixture, report, type Fixture } from '../fixture.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('bugs: errors per ten minutes', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });

  const read = (project: string | null = null, ago = 0, hours = 24): Promise<ErrorTraffic> =>
    fixture.board.getTraffic({ project, until: fixture.clock.now() - ago, hours });

  it('counts every occurrence of an error in its ten minutes, the running ones last', async () => {
    await fixture.bugs.record(errorReport());
    await fixture.bugs.record(errorReport());
    fixture.clock.advance(20 * MINUTE_MS);
    await fixture.bugs.record(errorReport({ error_message: 'another' }));
    const { counts, total, step, from } = await read();
    expect([counts.length, total, step]).to.deep.equal([144, 3, 10 * MINUTE_MS]);
    expect([counts.at(-1), counts.at(-3)]).to.deep.equal([1, 2]);
    expect(from % step).to.equal(0);
  });

  it('omits bugs, muted errors and repeated reports', async () => {
    await fixture.bugs.record(report());
    await fixture.bugs.record(errorReport({ muted_by: { rule_id: 'x', reason: 'noise' } }));
    await fixture.bugs.record(errorReport({ client_ref: 'once' }));
    await fixture.bugs.record(errorReport({ client_ref: 'once' }));
    expect((await read()).total).to.equal(1);
  });

  it('estimates users, and counts one user once', async () => {
    for (const user of ['ada', 'ada', 'ben']) await fixture.bugs.record(errorReport({ user }));
    const { users, total } = await read();
    expect([users, total]).to.deep.equal([2, 3]);
  });

  it('separates projects and periods', async () => {
    await fixture.bugs.record(errorReport());
    fixture.clock.advance(24 * HOUR_MS);
    await fixture.bugs.record(errorReport({ project: 'beta' }));
    expect([(await read()).total, (await read(null, 24 * HOUR_MS)).total]).to.deep.equal([1, 1]);
    expect([(await read('alpha')).total, (await read('beta')).total]).to.deep.equal([0, 1]);
  });

  it('counts a late report when it occurred, and a clock that runs ahead as now', async () => {
    const occurred = (ms: number): { occurred_at: string } => ({
      occurred_at: new Date(fixture.clock.now() + ms).toISOString(),
    });
    await fixture.bugs.record(errorReport(occurred(-3 * HOUR_MS)));
    await fixture.bugs.record(errorReport(occurred(3 * HOUR_MS)));
    const { counts } = await read();
    expect([counts.at(-1), counts.at(-19)]).to.deep.equal([1, 1]);
  });

  it('deletes counts after a month, and those of a deleted project', async () => {
    await fixture.bugs.record(errorReport());
    await fixture.traffic.flush();
    fixture.clock.advance(32 * 24 * HOUR_MS);
    await fixture.traffic.deleteExpired();
    expect(await fixture.deps.traffic.count()).to.equal(0);
    await fixture.bugs.record(errorReport());
    await fixture.traffic.removeProject('alpha');
    expect(await fixture.deps.traffic.count()).to.equal(0);
  });
});
