/** The log on a bad day says each thing once a minute (contract 95, a bad day). */
import { expect } from 'chai';
import { createConnectionLogger } from '../../../adapters/mongodb/connection-logger.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';

describe('mongodb: log lines for an unavailable server', () => {
  it('are written once a minute with the number of suppressed lines', () => {
    const clock = new ManualClock();
    const log = new RecordingLog();
    let lost = 0;
    const tell = createConnectionLogger(log, clock, () => (lost += 1));
    for (let second = 0; second <= 60; second++) {
      tell('away', new Error('no server'));
      tell('connected');
      clock.advance(1_000);
    }
    tell('lost');
    const reported = log.lines.map(({ level, message, data }) => [level, message.split(':')[0], data['left_out'] ?? 0]);
    expect(reported).to.deep.equal([
      ['error', 'MongoDB is unreachable', 0],
      ['info', 'MongoDB is back', 0],
      ['error', 'MongoDB is unreachable', 59],
      ['info', 'MongoDB is back', 59],
      ['error', 'MongoDB still does not respond', 0],
    ]);
    expect(lost).to.equal(1);
  });
});
