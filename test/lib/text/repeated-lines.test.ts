import { expect } from 'chai';
import { RepeatedLines } from '../../../lib/text/repeated-lines.js';

describe('repeated lines', () => {
  let now: number;
  let lines: RepeatedLines;
  beforeEach(() => {
    now = 5;
    lines = new RepeatedLines(() => now, 3);
  });

  it('logs the first, then one a minute with the number of omitted lines', () => {
    expect(lines.next('a')).to.deep.equal({});
    for (let n = 0; n < 1_000; n++) expect(lines.next('a')).to.equal(null);
    expect(lines.next('b')).to.deep.equal({});
    now += 59_999;
    expect(lines.next('a')).to.equal(null);
    now += 1;
    expect(lines.next('a')).to.deep.equal({ left_out: 1_001 });
    now += 60_000;
    expect(lines.next('a')).to.deep.equal({});
  });

  it('restarts after its end, and reports the lines that were not logged', () => {
    lines.next('a');
    lines.next('a');
    lines.next('a');
    expect(lines.over()).to.equal(2);
    expect(lines.over()).to.equal(0);
    expect(lines.next('a')).to.deep.equal({});
  });

  it('counts new lines together above the limit', () => {
    const told = Array.from({ length: 10_000 }, (_, n) => lines.next(`line ${n}`)).filter((more) => more !== null);
    expect(told).to.have.lengthOf(4);
    now += 60_000;
    expect(lines.next('another')).to.deep.equal({ left_out: 9_996 });
  });
});
