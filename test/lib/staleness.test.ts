import { expect } from 'chai';
import { StalenessTracker } from '../../lib/staleness.js';

describe('lib: StalenessTracker', () => {
  let now = 0;
  let tracker: StalenessTracker;

  beforeEach(() => {
    now = 0;
    tracker = new StalenessTracker(() => now);
  });

  const look = (...marks: string[]): number[] => {
    const round = tracker.startRound();
    const ages = marks.map((mark) => round.getAgeMs(mark));
    round.end();
    return ages;
  };

  it('returns how long a marker has been unchanged', () => {
    expect(look('a 1')).to.deep.equal([0]);
    now = 400;
    expect(look('a 1', 'b 1')).to.deep.equal([400, 0]);
    now = 1_000;
    expect(look('a 1', 'b 1')).to.deep.equal([1_000, 600]);
  });

  it('restarts the age of a marker that changed or was missing in a round', () => {
    look('a 1', 'b 1');
    now = 500;
    expect(look('a 2')).to.deep.equal([0]);
    now = 900;
    expect(look('a 2', 'b 1')).to.deep.equal([400, 0]);
  });

  it('retains all markers after an aborted round', () => {
    look('a 1', 'b 1');
    now = 300;
    tracker.startRound().getAgeMs('a 1');
    now = 700;
    expect(look('a 1', 'b 1')).to.deep.equal([700, 700]);
  });
});
