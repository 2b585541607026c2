/** Limits of time for the work of plugins. */
import { expect } from 'chai';
import { TimedOut, runWithTimeout } from '../../kernel/timeout.js';
import { getRejection } from '../harness.js';

describe('kernel: time limits', () => {
  it('returns the result of work that finishes in time, and reports nothing afterwards', async () => {
    const late: unknown[] = [];
    expect(
      await runWithTimeout(
        60_000,
        'setup',
        async () => 'done',
        (outcome) => late.push(outcome),
      ),
    ).to.equal('done');
    await Promise.resolve();
    expect(late).to.deep.equal([]);
  });

  for (const [how, outcome] of [
    ['resolves', { status: 'fulfilled', value: 'late' }],
    ['rejects', { status: 'rejected', reason: 'late' }],
  ] as const)
    it(`throws TimedOut at the limit, and reports the outcome of work that ${how} later`, async () => {
      let end = (): void => undefined;
      const work = new Promise((resolve, reject) => {
        end = () => (outcome.status === 'fulfilled' ? resolve('late') : reject('late'));
      });
      let error: unknown;
      const reported = new Promise((resolve) => {
        error = getRejection(runWithTimeout(1, 'setup', () => work, resolve));
      });
      expect(await error)
        .to.be.instanceOf(TimedOut)
        .with.property('message', 'setup took longer than 1 ms');
      end();
      expect(await reported).to.deep.equal(outcome);
    });
});
