import { expect } from 'chai';
import { evaluateClock, MAX_CLOCK_LEAP_MS, CLOCK_TRUST_DELAY_MS, type ClockNote } from '../../../lib/clock-skew.js';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../lib/time.js';

const NOW = Date.parse('2026-11-20T08:00:00.000Z');
const YEAR_MS = 365 * DAY_MS;
const note = (more: Partial<ClockNote> = {}): ClockNote => ({
  at: NOW,
  monotonic: 1_000,
  epoch: 'boot 1',
  doubted_ms: 0,
  doubt: null,
  ...more,
});
const look = (ranMs: number, stepMs = 0, epoch = 'boot 1') => ({
  now: NOW + ranMs + stepMs,
  monotonic: 1_000 + ranMs,
  epoch,
});

describe('lib: clock trust', () => {
  it('trusts the first clock of a store', () => {
    expect(evaluateClock(null, look(0), null)).to.deep.equal({ note: note(), ahead_ms: 0 });
  });

  it('trusts a clock that follows the monotonic clock, lags behind, or jumps by an hour', () => {
    for (const [ran, step] of [
      [30 * DAY_MS, 0],
      [MINUTE_MS, MAX_CLOCK_LEAP_MS],
      [MINUTE_MS, -YEAR_MS],
    ] as const)
      expect(evaluateClock(note(), look(ran, step), null), `${step}`).to.deep.include({
        ahead_ms: 0,
        note: note({ at: NOW + ran + step, monotonic: 1_000 + ran }),
      });
  });

  it('distrusts a clock after a larger jump, in a process or across a boot, until it has run for a day', () => {
    const leapt = evaluateClock(note(), look(MINUTE_MS, YEAR_MS), 1_000);
    expect(leapt.ahead_ms).to.equal(YEAR_MS);
    expect(leapt.note).to.deep.equal(
      note({ at: NOW + MINUTE_MS, monotonic: 61_000, doubted_ms: MINUTE_MS, doubt: 'leap' }),
    );

    const booted = evaluateClock(note(), { now: NOW + YEAR_MS, monotonic: 5, epoch: 'boot 2' }, null);
    expect(booted).to.deep.equal({ ahead_ms: YEAR_MS, note: note({ monotonic: 5, epoch: 'boot 2', doubt: 'stop' }) });

    let known = booted.note;
    for (let ran = HOUR_MS; ran < CLOCK_TRUST_DELAY_MS; ran += HOUR_MS) {
      const next = evaluateClock(known, { now: NOW + YEAR_MS + ran, monotonic: 5 + ran, epoch: 'boot 2' }, null);
      expect(next.ahead_ms, `after ${ran / HOUR_MS} h`).to.equal(YEAR_MS);
      expect(next.note.doubt).to.equal('stop');
      known = next.note;
    }
    const last = evaluateClock(
      known,
      { now: NOW + YEAR_MS + CLOCK_TRUST_DELAY_MS, monotonic: 5 + CLOCK_TRUST_DELAY_MS, epoch: 'boot 2' },
      null,
    );
    expect(last).to.deep.equal({
      ahead_ms: 0,
      note: {
        at: NOW + YEAR_MS + CLOCK_TRUST_DELAY_MS,
        monotonic: 5 + CLOCK_TRUST_DELAY_MS,
        epoch: 'boot 2',
        doubted_ms: 0,
        doubt: null,
      },
    });
  });

  it('trusts a corrected clock immediately', () => {
    const doubted = evaluateClock(note(), look(MINUTE_MS, YEAR_MS), null).note;
    expect(evaluateClock(doubted, look(2 * MINUTE_MS), null)).to.deep.equal({
      ahead_ms: 0,
      note: note({ at: NOW + 2 * MINUTE_MS, monotonic: 121_000 }),
    });
  });

  it('detects a jump in a process even if another machine wrote the record', () => {
    const seen = evaluateClock(note(), { now: NOW + YEAR_MS, monotonic: 5, epoch: 'boot 2' }, 4);
    expect(seen.note.doubt).to.equal('leap');
  });

  it('counts the uptime of this process when the record is from another boot', () => {
    const { ahead_ms } = evaluateClock(note(), { now: NOW + 3 * HOUR_MS, monotonic: 3 * HOUR_MS, epoch: 'boot 2' }, 0);
    expect(ahead_ms).to.equal(0);
  });
});
