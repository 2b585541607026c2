import { expect } from 'chai';
import { MANAGER, memoryFixture, report, type Fixture } from '../fixture.js';

describe('bugs: what agents work on', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });
  const working = async (project: string | null = null): Promise<(string | undefined)[]> =>
    (await fixture.agentWork.listWorking(project, 10)).map(({ claim }) => claim?.agent);

  it('lists claimed items with their agent until the lease ends', async () => {
    const { id } = await fixture.bugs.record(report());
    await fixture.bugs.record(report({ title: 'another' }));
    await fixture.leases.claim(id, MANAGER, { agent: 'fixer-7', lease_seconds: 600 });
    expect(await working()).to.deep.equal(['fixer-7']);
    expect([await working('alpha'), await working('beta')]).to.deep.equal([['fixer-7'], []]);
    fixture.clock.advance(601_000);
    expect(await working()).to.deep.equal([]);
  });

  it('lists the queue in the order in which items are handed out, without assigned and reserved ones', async () => {
    await fixture.bugs.record(report({ title: 'low', severity: 'low' }));
    await fixture.bugs.record(report({ title: 'critical', severity: 'critical' }));
    await fixture.bugs.record(report({ title: 'reserved', severity: 'critical', target_agent: 'night-shift' }));
    const { id } = await fixture.bugs.record(report({ title: 'assigned', severity: 'critical' }));
    await fixture.deps.items.change({ id }, { set: { assignee: 'mia' } });
    const { items, total } = await fixture.agentWork.listQueue(null, 10);
    expect(items.map(({ title }) => title)).to.deep.equal(['critical', 'low']);
    expect(total).to.equal(4);
    const next = await fixture.nextItem.reserveNext(MANAGER, { agent: 'anyone' }, {});
    expect(next.item?.title).to.equal('critical');
    expect((await fixture.agentWork.listQueue('beta', 10)).items).to.deep.equal([]);
  });
});
