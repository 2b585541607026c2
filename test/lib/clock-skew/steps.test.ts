import { expect } from 'chai';
import { ClockStepDetector, CLOCK_SLACK_MS } from '../../../lib/clock-skew.js';
import { ManualClock } from '../../kit/clock.js';

describe('lib: clock jumps', () => {
  it('are reported once each with their sign, without the normal passage of time', () => {
    const clock = new ManualClock();
    const steps = new ClockStepDetector(clock);
    for (const ms of [3_600_000, -3_600_000, 365 * 86_400_000]) {
      clock.advance(86_400_000);
      expect(steps.check()).to.equal(0);
      clock.set(clock.now() + ms);
      expect(steps.check()).to.equal(ms);
      expect(steps.check()).to.equal(0);
    }
  });

  it('are reported above the tolerated difference between two clocks', () => {
    const clock = new ManualClock();
    const steps = new ClockStepDetector(clock);
    clock.set(clock.now() - CLOCK_SLACK_MS);
    expect(steps.check()).to.equal(0);
    clock.set(clock.now() - CLOCK_SLACK_MS - 1);
    expect(steps.check()).to.equal(-CLOCK_SLACK_MS - 1);
  });
});
