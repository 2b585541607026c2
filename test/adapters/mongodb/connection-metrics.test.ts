/** The connection to MongoDB as numbers. */
import { expect } from 'chai';
import { createConnectionMetrics } from '../../../adapters/mongodb/connection-metrics.js';
import { PrometheusMetrics } from '../../../adapters/node/metrics.js';
import { ManualClock } from '../../kit/clock.js';

describe('mongodb: connection metrics', () => {
  it('report reachability, the time of the last response, and the duration of operations', async () => {
    const metrics = new PrometheusMetrics();
    const clock = new ManualClock();
    const ears = createConnectionMetrics(metrics, clock);
    const value = async (name: string): Promise<number> =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.render())?.[1]);
    const began = clock.now() / 1_000;
    expect(await value('aos_mongodb_connected')).to.equal(1);
    expect(await value('aos_mongodb_last_answer_timestamp_seconds')).to.equal(began);

    for (const [state, connected] of [
      ['away', 0],
      ['replaced', 0],
      ['connected', 1],
      ['replaced', 1],
      ['lost', 0],
    ] as const) {
      ears.tell(state);
      expect(await value('aos_mongodb_connected'), state).to.equal(connected);
    }

    clock.advance(5_000);
    ears.answered(3);
    expect(await value('aos_mongodb_last_answer_timestamp_seconds')).to.equal(began + 5);
    expect(await metrics.render()).to.include('aos_mongodb_operation_seconds_bucket{le="0.005"} 1');
    expect(await value('aos_mongodb_operation_seconds_count')).to.equal(1);
  });
});
