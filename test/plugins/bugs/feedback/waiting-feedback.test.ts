/**
 * Feedback that comes before its event waits in the store, and is linked once (contract 21, Sentry
 * SDK intake).
 */
import { expect } from 'chai';
import { DAY_MS, toIsoString } from '../../../../lib/time.js';
import { ensureCollections, errorReport, fixtureOn, memoryFixture, settled, type Fixture } from '../fixture.js';

const EVENT = 'e'.repeat(32);
const SAID = 'f'.repeat(32);
const about = { project: 'alpha', event_ref: EVENT, client_ref: SAID, intake_key: null, text: 'It broke.' };
const own = errorReport({
  type: 'bug',
  client_ref: SAID,
  title: 'It broke.',
  description: 'It broke.',
  exception_class: null,
  error_message: null,
  error_level: null,
  fingerprint: [SAID],
});
const event = errorReport({ client_ref: EVENT });

const said = async (fixture: Fixture): Promise<string> => {
  expect(await fixture.bugs.addFeedback(about)).to.equal(false);
  return (await fixture.bugs.record(own)).id;
};
const bodies = async (fixture: Fixture, item_id: string): Promise<string[]> =>
  (await fixture.deps.comments.find({ filter: { item_id }, limit: 10 })).items.map(({ body }) => body);

describe('bugs: feedback before its event', () => {
  let first: Fixture;
  beforeEach(async () => {
    first = await memoryFixture();
  });
  const another = async (): Promise<Fixture> => {
    await ensureCollections(first.store);
    return fixtureOn(first.store, first.clock);
  };

  it('is linked when the event is counted, and removed from the queue', async () => {
    const itself = await said(first);
    const { id } = await first.bugs.record(event);
    expect(await bodies(first, id)).to.deep.equal(['It broke.']);
    expect(await first.deps.items.get(itself)).to.include({ status: 'duplicate', duplicate_of: id });
    expect(await first.deps.waiting.count()).to.equal(0);
    await settled(first);
  });

  it('survives a restart', async () => {
    await said(first);
    const later = await another();
    await later.jobs.reconcile();
    const { id } = await later.bugs.record(event);
    expect(await bodies(later, id)).to.deep.equal(['It broke.']);
    await settled(later);
  });

  it('is linked once by the job when another process counted the event', async () => {
    await said(first);
    const { id } = await (await another()).bugs.record(event);
    expect(await bodies(first, id)).to.deep.equal([]);
    await Promise.all([first.jobs.completePendingWork(), (await another()).jobs.completePendingWork()]);
    await first.jobs.completePendingWork();
    expect(await bodies(first, id)).to.deep.equal(['It broke.']);
    await settled(first);
  });

  it('becomes only a comment when its own item is already being worked on', async () => {
    const itself = await said(first);
    await first.bugs.record({ ...own, client_ref: null });
    const { id } = await first.bugs.record(event);
    expect(await bodies(first, id)).to.deep.equal(['It broke.']);
    expect(await first.deps.items.get(itself)).to.include({ status: 'open', hit_count: 2 });
    await settled(first);
  });

  it('is dropped after a week, and beyond a thousand per project', async () => {
    await said(first);
    first.clock.advance(7 * DAY_MS + 1);
    await first.jobs.deleteExpired();
    expect(await first.deps.waiting.count()).to.equal(0);
    const expires_at = toIsoString(first.clock.now() + DAY_MS);
    for (let i = 0; i < 1000; i++)
      await first.deps.waiting.insert({ id: `w${i}`, project: 'alpha', event: `v${i}`, body: 'x', expires_at });
    expect(await first.bugs.addFeedback({ ...about, client_ref: 'other' })).to.equal(false);
    expect(await first.deps.waiting.count()).to.equal(1000);
    await settled(first);
  });
});
