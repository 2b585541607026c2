/**
 * Metric history, baseline and deviation (contract 30, metrics), against plain sums over every
 * sample.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  toBaseline,
  getBucketSeconds,
  getDeviation,
} from '../../../../plugins/watchdog/metrics/metric-history-service.js';
import { RunningStats, addSample } from '../../../../plugins/watchdog/metrics/running-stats.js';
import type { MetricStats } from '../../../../plugins/watchdog/model/documents.js';
import { ANYONE, HOUR, memoryFixture, MINUTE, type Fixture } from '../fixture.js';

const close = (found: number, expected: number): void =>
  void expect(found).to.be.closeTo(expected, Math.max(1e-6, Math.abs(expected) * 1e-9));

describe('watchdog statistics', () => {
  it('Welford over any split equals the two-pass formula', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 2, maxLength: 60 }),
        fc.nat(59),
        (values, cut) => {
          const parts = [values.slice(0, cut), values.slice(cut)].filter((part) => part.length > 0);
          const all = new RunningStats();
          for (const part of parts) {
            let stats: MetricStats | null = null;
            for (const [i, value] of part.entries()) stats = addSample(stats, value, i);
            all.addHour(stats as MetricStats, 0);
          }
          const mean = values.reduce((a, b) => a + b, 0) / values.length;
          const m2 = values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
          expect(all.n).to.equal(values.length);
          expect(all.mean).to.be.closeTo(mean, 1e-6 * Math.max(1, Math.abs(mean)));
          expect(all.stddev).to.be.closeTo(Math.sqrt(m2 / (values.length - 1)), 1e-5 * Math.max(1, Math.sqrt(m2)));
        },
      ),
    );
  });

  it('aligns buckets to the epoch, with at most the requested number', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2e12 }),
        fc.integer({ min: 1, max: 336 * HOUR }),
        fc.integer({ min: 1, max: 1000 }),
        (from, length, points) => {
          const width = getBucketSeconds(from, from + length, points) * 1000;
          expect(Math.floor((from + length) / width) - Math.floor(from / width) + 1).to.be.at.most(points);
        },
      ),
    );
    expect(getBucketSeconds(0, 24 * HOUR - 1, 300)).to.equal(300);
    expect(getBucketSeconds(0, HOUR, 1000, 60)).to.equal(60);
  });

  it('explains why a deviation is or is not significant', () => {
    const base = { days: 7, n: 100, mean: 50, stddev: 2, min: 40, max: 60, sufficient: true };
    expect(getDeviation(60, base)).to.deep.equal({
      value: 60,
      absolute: 10,
      ratio: 1.2,
      percent: 20,
      zscore: 5,
      direction: 'above',
      significant: true,
      reason: 'significant',
    });
    expect(getDeviation(55, base)).to.include({ reason: 'within_band', significant: false });
    expect(getDeviation(53, { ...base, stddev: 0.5 })).to.include({ reason: 'small_change', significant: false });
    expect(getDeviation(60, { ...base, sufficient: false })).to.include({ reason: 'insufficient_data' });
    expect(getDeviation(1, { ...base, mean: 0, stddev: 0.1 })).to.include({
      ratio: null,
      percent: null,
      significant: false,
    });
    expect(getDeviation(50, { ...base, stddev: 0, min: 50, max: 50 })).to.include({ zscore: 0, direction: 'equal' });
    expect(toBaseline(undefined)).to.deep.include({ n: 0, mean: null, sufficient: false });
  });
});

describe('watchdog metric history', () => {
  let fixture: Fixture;
  const samples: { at: number; value: number }[] = [];

  /** Eight days at ten minutes, with one spike. */
  before(async function () {
    fixture = await memoryFixture();
    for (let i = 0; i < 8 * 144; i++) {
      const value = i === 1100 ? 999 : 50 + 10 * Math.sin(i / 20);
      samples.push({ at: fixture.clock.now(), value });
      await fixture.beat('a', { interval: 600, metrics: { cpu: value, flat: 3 } });
      fixture.clock.advance(10 * MINUTE);
    }
  });

  const history = async (query: object) =>
    fixture.histories.getHistory(await fixture.monitors.getMonitor('a', ANYONE), query);

  for (const [hours, points] of [
    [24, 300],
    [24, 20],
    [168, 168],
    [168, 1000],
    [336, 100],
    [1, 1],
  ] as const) {
    it(`condenses ${hours} h into at most ${points} buckets with every sample`, async () => {
      const { metrics, bucket_seconds, from, to } = await history({ hours, points });
      const cpu = metrics['cpu']!;
      const width = bucket_seconds * 1000;
      const expected = new Map<number, number[]>();
      for (const { at, value } of samples) {
        if (at < Date.parse(from) || at > Date.parse(to)) continue;
        const key = Math.floor(at / width) * width;
        expected.set(key, [...(expected.get(key) ?? []), value]);
      }
      expect(cpu.points.length).to.be.at.most(points).and.to.equal(expected.size);
      for (const point of cpu.points) {
        const values = expected.get(Date.parse(point.t)) ?? [];
        expect(point.n, point.t).to.equal(values.length);
        close(point.avg, values.reduce((a, b) => a + b, 0) / values.length);
        expect(point.min).to.equal(Math.min(...values));
        expect(point.max).to.equal(Math.max(...values));
      }
      expect(cpu.latest).to.deep.equal({
        t: new Date(samples.at(-1)!.at).toISOString(),
        v: samples.at(-1)!.value,
      });
    });
  }

  it('compares with the mean over all samples of the last seven days', async () => {
    const { metrics } = await history({ hours: 1 });
    const now = fixture.clock.now();
    const values = samples.filter(({ at }) => at >= now - 7 * 24 * HOUR).map(({ value }) => value);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const stddev = Math.sqrt(values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - 1));
    const { baseline, deviation } = metrics['cpu']!;
    expect(baseline).to.include({ days: 7, n: values.length, max: 999, sufficient: true });
    close(baseline.mean as number, mean);
    close(baseline.stddev as number, stddev);
    close(deviation.zscore as number, (samples.at(-1)!.value - mean) / stddev);
    expect(metrics['flat']?.deviation).to.include({ zscore: 0, significant: false, absolute: 0 });
  });

  it('returns only the requested metrics, and none without samples', async () => {
    expect(Object.keys((await history({ metric: ['flat', 'nothing'] })).metrics)).to.deep.equal(['flat']);
    const old = new Date(samples[0]!.at - 3 * HOUR).toISOString();
    const older = new Date(samples[0]!.at - 4 * HOUR).toISOString();
    expect((await history({ from: older, to: old })).metrics).to.deep.equal({});
  });

  it('counts every hour once when daylight saving ends and begins', async function () {
    for (const change of ['2026-10-25T01:00:00.000Z', '2027-03-28T01:00:00.000Z']) {
      const clock = Date.parse(change) - 3 * HOUR;
      const spring = await memoryFixture();
      spring.clock.set(clock);
      for (let i = 0; i < 360; i++) {
        await spring.beat('a', { interval: 60, metrics: { n: i } });
        if (i % 10 === 0) expect(await spring.evaluate()).to.include({ to_warning: 0, to_down: 0 });
        spring.clock.advance(MINUTE);
      }
      const doc = await spring.monitors.getMonitor('a', ANYONE);
      const { metrics } = await spring.histories.getHistory(doc, { hours: 6, resolution: 3600 });
      expect(metrics['n']?.points.map(({ n }) => n)).to.deep.equal([60, 60, 60, 60, 60, 60]);
    }
  });

  it('rejects a span longer than 336 hours, and a span that ends before it starts', async () => {
    for (const query of [
      { from: '2026-01-01T00:00:00.000Z', to: '2026-02-01T00:00:00.000Z' },
      { from: '2026-01-02T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' },
    ]) {
      const rejected = await history(query).then(
        () => null,
        (error: { code: string }) => error.code,
      );
      expect(rejected).to.equal('invalid_request');
    }
  });
});
