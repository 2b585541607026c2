/** One envelope with tens of thousands of added-up sessions (contract 00, limits). */
import { expect } from 'chai';
import { SessionForwarder } from '../../../plugins/sentry/session-forwarder.js';
import { countCategories } from '../../../plugins/sentry/sdk-rate-limits.js';
import type { SessionReport } from '../../../ports/domain/release-health.js';

const aggregates = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    started: new Date(1_795_000_000_000 + i).toISOString(),
    did: `u${i}`,
    exited: 1,
  }));
const payloadOf = (count: number): object => ({ attrs: { release: 'shop@1.0.0' }, aggregates: aggregates(count) });

describe('envelope of 250 items with 100 session aggregates each', () => {
  it('is charged by its number of aggregates', () => {
    const payload = Buffer.from(JSON.stringify(payloadOf(100)));
    const items = Array.from({ length: 250 }, () => ({ type: 'sessions', payload }));
    expect(countCategories(items, () => true).get('session')).to.be.above(2_500);
  });

  it('is charged one unit for a single session or a few aggregates', () => {
    const items = [{ type: 'session', payload: Buffer.from('{"sid":"1","attrs":{"release":"shop@1"}}') }];
    expect(countCategories(items, () => true).get('session')).to.equal(1);
  });

  it('is counted in batches that yield to the event loop', async () => {
    const taken: SessionReport[] = [];
    const sessions = new SessionForwarder(() => ({ record: async (report) => void taken.push(report) }));
    let turns = 0;
    let next: NodeJS.Immediate;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    next = setImmediate(count);
    const sender = { address: '192.0.2.1', intake: true };
    const payload = payloadOf(400) as Readonly<Record<string, unknown>>;
    await Promise.all(
      Array.from({ length: 5 }, () =>
        sessions.forward('sessions', payload, { project: 'shop', sent_at: null }, sender),
      ),
    );
    clearImmediate(next);
    expect(taken.reduce((sum, { entries }) => sum + entries.length, 0)).to.equal(2_000);
    expect(Math.max(...taken.map(({ entries }) => entries.length))).to.be.at.most(50);
    expect(turns).to.be.at.least(39);
  });
});
