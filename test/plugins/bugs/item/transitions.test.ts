/**
 * What a change of status asks for, and what follows from it. Which changes there are:
 * walk.test.ts.
 */
import { expect } from 'chai';
import { codeOf, itemIn, MANAGER, memoryFixture, report, shown, type Fixture } from '../fixture.js';

describe('bugs: requirements of transitions', () => {
  let fixture: Fixture;
  beforeEach(async () => {
    fixture = await memoryFixture();
  });

  it('rejects wont_fix without a reason and leaves the other fields unchanged', async () => {
    const id = await itemIn(fixture, 'open', 'Left alone');
    expect(await codeOf(fixture.edits.edit(id, MANAGER, { status: 'wont_fix', title: 'New' }))).to.equal(
      'reason_required',
    );
    expect((await shown(fixture, id)).title).to.equal('Left alone');
  });

  it('rejects a duplicate of nothing, itself, a cycle, another project or a missing item', async () => {
    const a = await itemIn(fixture, 'open', 'A');
    const b = await itemIn(fixture, 'open', 'B');
    const foreign = (await fixture.bugs.record(report({ project: 'beta', title: 'C' }))).id;
    const patch = (id: string, duplicate_of?: string) =>
      codeOf(fixture.edits.edit(id, MANAGER, { status: 'duplicate', duplicate_of }));
    expect(await patch(a)).to.equal('validation_failed');
    expect(await patch(a, a)).to.equal('validation_failed');
    expect(await patch(a, foreign)).to.equal('validation_failed');
    expect(await patch(a, 'alpha-999')).to.equal('validation_failed');
    expect(await patch(a, b)).to.equal('none');
    expect(await patch(b, a)).to.equal('validation_failed');
  });

  it('accepts a ref as duplicate_of, and forwards later occurrences', async () => {
    const target = await fixture.bugs.record(report({ title: 'Target' }));
    const id = await itemIn(fixture, 'open', 'Copy');
    await fixture.edits.edit(id, MANAGER, { status: 'duplicate', duplicate_of: target.ref });
    const again = await fixture.bugs.record(report({ title: 'Copy' }));
    expect(again.id).to.equal(target.id);
    expect(again.hit_count).to.equal(2);
    expect((await shown(fixture, id)).hit_count).to.equal(1);
  });

  it('treats blank text as null, like a report', async () => {
    const id = await itemIn(fixture, 'open');
    await fixture.edits.edit(id, MANAGER, { target_agent: 'x', environment: 'ci' });
    const edit = { title: ' Trimmed ', target_agent: '', environment: ' ', resolved_in_build: '' };
    expect(await fixture.edits.edit(id, MANAGER, edit)).to.include({
      title: 'Trimmed',
      target_agent: null,
      environment: null,
      resolved_in_build: null,
    });
    expect((await fixture.nextItem.reserveNext(MANAGER, { agent: 'anybody' }, {})).item?.id).to.equal(id);
  });

  it('validates If-Match', async () => {
    const id = await itemIn(fixture, 'open');
    expect(await codeOf(fixture.edits.edit(id, MANAGER, { title: 'x' }, '"7"'))).to.equal('precondition_failed');
    expect(await codeOf(fixture.edits.edit(id, MANAGER, { title: 'x' }, '"1"'))).to.equal('none');
    expect((await shown(fixture, id)).rev).to.equal(2);
  });

  it('records the target of a duplicate and its later change in the history', async () => {
    const [id, a, b] = [await itemIn(fixture, 'open'), await itemIn(fixture, 'open'), await itemIn(fixture, 'open')];
    await fixture.edits.edit(id, MANAGER, { status: 'duplicate', duplicate_of: a, reason: 'the same' });
    await fixture.edits.edit(id, MANAGER, { duplicate_of: b });
    await fixture.jobs.stop();
    const { items } = await fixture.deps.activity.find({ filter: { item_id: id }, sort: [['at', 'asc']] });
    expect(items.slice(1).map(({ action, data }) => [action, data])).to.deep.equal([
      ['status', { from: 'open', to: 'duplicate', reason: 'the same', duplicate_of: a }],
      ['edited', { fields: ['duplicate_of'], changes: [{ field: 'duplicate_of', from: a, to: b }] }],
    ]);
  });

  it('locks the severity set by a user, and emits critical once', async () => {
    const id = await itemIn(fixture, 'open');
    const item = await fixture.edits.edit(id, MANAGER, { severity: 'critical' });
    expect(item.severity_locked).to.equal(true);
    await fixture.edits.edit(id, MANAGER, { severity: 'low' });
    await fixture.edits.edit(id, MANAGER, { urgency: 'critical' });
    await fixture.jobs.stop();
    expect(fixture.told.filter(({ event }) => event === 'bug.critical')).to.have.lengthOf(1);
  });

  it('emits bug.resolved once per cycle', async () => {
    const id = await itemIn(fixture, 'resolved');
    await fixture.edits.edit(id, MANAGER, { status: 'closed' });
    await fixture.jobs.stop();
    expect(fixture.told.filter(({ event }) => event === 'bug.resolved')).to.have.lengthOf(1);
    await fixture.edits.edit(id, MANAGER, { status: 'open' });
    await fixture.edits.edit(id, MANAGER, { status: 'closed' });
    await fixture.jobs.stop();
    expect(fixture.told.filter(({ event }) => event === 'bug.resolved')).to.have.lengthOf(2);
  });

  it('closes items immediately when the fix is already published, and clears the build on reopening', async () => {
    await fixture.published('1.2.0', 'nightly-7');
    const a = await itemIn(fixture, 'open', 'by version');
    expect((await fixture.edits.edit(a, MANAGER, { status: 'resolved', resolved_in_build: '1.2' })).status).to.equal(
      'closed',
    );
    const b = await itemIn(fixture, 'open', 'by build');
    const closed = await fixture.edits.edit(b, MANAGER, { resolved_in_build: 'nightly-7' });
    expect(closed.status).to.equal('closed');
    const open = await fixture.edits.edit(b, MANAGER, { status: 'open' });
    expect(open.resolved_in_build).to.equal(null);
    expect(open.reopened_at).to.be.a('string');
    expect(open.closed_at).to.equal(null);
  });
});
