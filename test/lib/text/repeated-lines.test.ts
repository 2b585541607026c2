import { expect } from 'chai';
import { RepeatedLineLimiter } from '../../../lib/text/repeated-line-limiter.js';

describe('lib: repeated log lines', () => {
  let now: number;
  let lines: RepeatedLineLimiter;
  beforeEach(() => {
    now = 5;
    lines = new RepeatedLineLimiter(() => now, 3);
  });

  it('logs the first line, then one a minute with the number of suppressed lines', () => {
    expect(lines.admit('a')).to.deep.equal({});
    for (let n = 0; n < 1_000; n++) expect(lines.admit('a')).to.equal(null);
    expect(lines.admit('b')).to.deep.equal({});
    now += 59_999;
    expect(lines.admit('a')).to.equal(null);
    now += 1;
    expect(lines.admit('a')).to.deep.equal({ left_out: 1_001 });
    now += 60_000;
    expect(lines.admit('a')).to.deep.equal({});
  });

  it('restarts after the condition ends, and reports the number of suppressed lines', () => {
    lines.admit('a');
    lines.admit('a');
    lines.admit('a');
    expect(lines.reset()).to.equal(2);
    expect(lines.reset()).to.equal(0);
    expect(lines.admit('a')).to.deep.equal({});
  });

  it('counts additional distinct lines together above the limit', () => {
    const reported = Array.from({ length: 10_000 }, (_, n) => lines.admit(`line ${n}`)).filter((more) => more !== null);
    expect(reported).to.have.lengthOf(4);
    now += 60_000;
    expect(lines.admit('another')).to.deep.equal({ left_out: 9_996 });
  });
});
