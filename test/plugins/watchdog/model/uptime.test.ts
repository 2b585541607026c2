/** Time in each state by hour and by day: exact, whatever the order and number of changes. */
import { expect } from 'chai';
import fc from 'fast-check';
import { recordUptime, getUptimeDays, getUptime } from '../../../../plugins/watchdog/model/uptime.js';
import type { MonitorState } from '../../../../ports/domain/watchdog.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const iso = (ms: number): string => new Date(ms).toISOString();

/**
 * A monitor that went through these states, each for so many milliseconds; the last one runs on.
 */
function lived(stretches: readonly (readonly [MonitorState, number])[]): [Parameters<typeof getUptime>[0], number] {
  let now = START;
  let doc: Parameters<typeof getUptime>[0] = { uptime: null, state: 'up', last_state_change_utc: iso(START) };
  for (const [i, [state, ms]] of stretches.entries()) {
    const uptime = i === 0 ? null : recordUptime(doc, now);
    doc = { uptime, state, last_state_change_utc: iso(now) };
    now += ms;
  }
  return [doc, now];
}

describe('watchdog uptime', () => {
  it('reports full uptime since creation, and no data before', () => {
    const uptime = getUptime(...lived([['up', 2 * DAY + HOUR / 2]]));
    expect(uptime).to.include({ day: 1, month: 1, quarter: 1 });
    expect(uptime.days.slice(-4).map(({ state }) => state)).to.deep.equal(['none', 'up', 'up', 'up']);
    expect(uptime.hours.every(({ state }) => state === 'up')).to.equal(true);
  });

  it('reports six hours down as a quarter of 24 h, and marks those hours', () => {
    const uptime = getUptime(
      ...lived([
        ['up', 3 * DAY],
        ['down', 6 * HOUR],
        ['up', 18 * HOUR - 1],
      ]),
    );
    expect(uptime.day).to.be.closeTo(0.75, 1e-6);
    expect(uptime.hours.map(({ state }) => state).join(' ')).to.equal(
      [...Array<string>(6).fill('down'), ...Array<string>(18).fill('up')].join(' '),
    );
    expect(uptime.days.at(-1)).to.deep.equal({ state: 'down', seconds: 6 * 3600 });
  });

  it('ignores stopped, maintenance and unknown', () => {
    const uptime = getUptime(
      ...lived([
        ['unknown', DAY],
        ['maintenance', DAY],
        ['stopped', 2 * DAY],
      ]),
    );
    expect(uptime).to.include({ day: null, month: null, quarter: null });
    expect(uptime.days.every(({ state }) => state === 'none')).to.equal(true);
  });

  it('computes shares from state durations, with a small record', () => {
    const states = fc.constantFrom<MonitorState>('up', 'warning', 'down', 'stopped');
    const stretches = fc.array(fc.tuple(states, fc.integer({ min: 1, max: 9 * HOUR })), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(stretches, (all) => {
        const [doc, now] = lived(all);
        const uptime = getUptime(doc, now);
        const sum = (wanted: MonitorState): number =>
          all.reduce((total, [state, ms]) => total + (state === wanted ? ms : 0), 0);
        const working = sum('up') + sum('warning');
        const watched = working + sum('down');
        if (watched === 0) expect(uptime.quarter).to.equal(null);
        else expect(uptime.quarter).to.be.closeTo(working / watched, 1e-6);
        expect((doc.uptime ?? '').length).to.be.lessThan(139 * 60);
      }),
    );
  });

  it('counts the current state like it is recorded when it ends', () => {
    const states = fc.constantFrom<MonitorState>('up', 'warning', 'down', 'stopped', 'unknown', 'maintenance');
    const lengths = fc.oneof(
      fc.integer({ min: 1, max: 9 * HOUR }),
      fc.constantFrom(HOUR, DAY, 3 * DAY, 100 * DAY, HOUR / 2),
    );
    const stretches = fc.array(fc.tuple(states, lengths), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(stretches, (all) => {
        const [doc, now] = lived(all);
        const ended = { uptime: recordUptime(doc, now), state: doc.state, last_state_change_utc: iso(now) };
        const { days, ...rest } = getUptime(doc, now);
        const { days: daysOfRecord, ...restOfRecord } = getUptime(ended, now);
        expect(rest).to.deep.equal(restOfRecord);
        expect(days).to.deep.equal(daysOfRecord);
      }),
    );
  });

  it('the API returns the same days as the page', () => {
    const states = fc.constantFrom<MonitorState>('up', 'warning', 'down', 'stopped', 'unknown', 'maintenance');
    const lengths = fc.oneof(
      fc.integer({ min: 1, max: 9 * HOUR }),
      fc.constantFrom(HOUR, DAY, 3 * DAY, 100 * DAY, HOUR / 2),
    );
    const stretches = fc.array(fc.tuple(states, lengths), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(stretches, fc.integer({ min: 1, max: 400 }), (all, requested) => {
        const [doc, now] = lived(all);
        const page = getUptime(doc, now);
        const { share, days } = getUptimeDays(doc, now, 90);
        expect(share).to.equal(page.quarter);
        expect(getUptimeDays(doc, now, 30).share).to.equal(page.month);
        expect(days.map(({ day }) => day)).to.deep.equal(
          page.days.map((_, i) => iso(now - (89 - i) * DAY).slice(0, 10)),
        );
        for (const [i, { state, seconds }] of page.days.entries()) {
          const reported = days[i];
          expect(reported?.share === null, `${reported?.day} ${state}`).to.equal(state === 'none');
          if (state !== 'none') expect(reported?.[`${state}_seconds`]).to.equal(Math.round(seconds));
        }
        const other = getUptimeDays(doc, now, requested).days;
        expect(other).to.have.length(requested);
        expect(other.slice(-90)).to.deep.equal(days.slice(-requested));
      }),
    );
  });
});
