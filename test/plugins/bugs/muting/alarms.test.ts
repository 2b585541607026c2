/**
 * `error.rate_exceeded`: once per crossing, against a model, in parallel, in two processes, over a
 * crash (contract 21).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { evaluateAlarm } from '../../../../plugins/bugs/muting/rate-alarms.js';
import { toMinuteKey, getNewestRate } from '../../../../plugins/bugs/item/occurrence-rate.js';
import type { ReportFilter, Mute } from '../../../../ports/domain/bugs.js';
import type { DocumentStore } from '../../../../ports/store/index.js';
import { ManualClock } from '../../../kit/clock.js';
import { ensureCollections, errorReport, settled, STORES, fixtureOn, type Fixture } from '../fixture.js';

const MINUTE = 60_000;
const mute = (alarm_threshold: number | null, rule_id = 'rule'): Mute => ({
  rule_id,
  reason: 'noise',
  alarm_threshold,
});
const noisy = (fixture: Fixture, threshold: number, rule?: string) =>
  fixture.bugs.record(errorReport({ muted_by: mute(threshold, rule) }));

/** Rules that only say which thresholds there are. */
const watching = (threshold: number, since: string): ReportFilter => ({
  findMute: () => null,
  recordHit: async () => undefined,
  listAlarmRules: async () => [{ rule_id: 'rule', threshold, since }],
  findRulePage: async () => null,
});

async function exceeded(...fixtures: Fixture[]): Promise<{ id: string; data: Record<string, unknown> }[]> {
  for (const fixture of fixtures) await settled(fixture);
  return fixtures
    .flatMap(({ told: reported }) => reported)
    .filter(({ event }) => event === 'error.rate_exceeded')
    .map(({ id, data }) => ({ id, data: data as unknown as Record<string, unknown> }));
}

/**
 * The contract in one sentence: told when the count becomes greater, once, armed again at the
 * threshold or below.
 */
class Model {
  #times: number[] = [];
  #armed = true;
  fired: number[] = [];

  hit(now: number, threshold: number): void {
    const minute = Math.floor(now / MINUTE);
    const within = (at: number): boolean => Math.floor(at / MINUTE) > minute - 60;
    if (this.#times.filter(within).length <= threshold) this.#armed = true;
    this.#times.push(now);
    const count = this.#times.filter(within).length;
    if (count <= threshold || !this.#armed) return;
    this.#armed = false;
    this.fired.push(count);
  }
}

describe('bugs: rate alarm of a muted group', () => {
  it('is measured at the newest counted minute', () => {
    expect(getNewestRate({ m100: 2, m159: 3, m160: 4 })).to.deep.equal({ minute: 160, count: 7, before: 3 });
    expect(getNewestRate({ m100: 2, m159: 3 })).to.deep.equal({ minute: 159, count: 5, before: 2 });
    expect(getNewestRate({})).to.deep.equal({ minute: 0, count: 0, before: 0 });
  });

  it('computes the next step from the count, the threshold and the last alarm', () => {
    const of = (minutes: Record<string, number>, alarm?: string) =>
      evaluateAlarm({ minutes, alarm, muted_by_rule_id: 'r' }, { rule_id: 'r', threshold: 3 });
    expect(of({ m9: 3 })).to.equal('none');
    expect(of({ m9: 4 })).to.equal('emit');
    expect(of({ m9: 4 }, 'r 9')).to.equal('none');
    expect(of({ m9: 4, m10: 1 }, 'r 9')).to.equal('none');
    expect(of({ m9: 3, m10: 1 }, 'r 8')).to.equal('emit');
    expect(of({ m9: 3, m10: 1 }, 'r 10')).to.equal('none');
    expect(of({ m9: 2 }, 'r 1')).to.equal('rearm');
    expect(of({ m9: 4 }, 'other 9')).to.equal('emit');
    expect(evaluateAlarm({ minutes: { m9: 9 }, muted_by_rule_id: null }, { rule_id: 'r', threshold: 1 })).to.equal(
      'none',
    );
  });

  it('is emitted exactly when the model emits it (property)', async () => {
    const steps = fc.array(
      fc.record({
        wait: fc.oneof(fc.integer({ min: 0, max: 90_000 }), fc.integer({ min: 0, max: 80 * MINUTE })),
        hits: fc.integer({ min: 1, max: 4 }),
      }),
      { minLength: 1, maxLength: 40 },
    );
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 8 }), async (given, threshold) => {
        const fixture = fixtureOn(await ensureCollections(new MemoryStore()));
        const model = new Model();
        for (const { wait, hits } of given) {
          fixture.clock.advance(wait);
          for (let i = 0; i < hits; i++) {
            await noisy(fixture, threshold);
            model.hit(fixture.clock.now(), threshold);
          }
        }
        expect((await exceeded(fixture)).map(({ data }) => data['count'])).to.deep.equal(model.fired);
      }),
      { numRuns: 60 },
    );
  });

  for (const { name, open } of STORES) {
    describe(`on ${name}`, () => {
      let store: DocumentStore;
      let close: () => Promise<void>;
      beforeEach(async () => ({ store, close } = await open()));
      afterEach(() => close());

      it('is emitted once with its cause, without a new revision', async () => {
        const fixture = fixtureOn(store);
        const first = await noisy(fixture, 3);
        for (let i = 0; i < 9; i++) await noisy(fixture, 3);
        const reported = await exceeded(fixture);
        expect(reported).to.have.length(1);
        expect(reported[0]?.data).to.deep.equal({
          id: first.id,
          ref: first.ref,
          rule_id: 'rule',
          count: 4,
          threshold: 3,
        });
        expect(fixture.told.map(({ event }) => event)).to.deep.equal(['error.rate_exceeded']);
        const item = await fixture.deps.items.get(first.id);
        expect(item).to.include({ hit_count: 10, rev: 1 });
        expect(item?.outbox).to.deep.equal([]);
      });

      it('is emitted again only after the count fell to the threshold', async () => {
        const fixture = fixtureOn(store);
        for (let i = 0; i < 4; i++) await noisy(fixture, 3);
        fixture.clock.advance(30 * MINUTE);
        await noisy(fixture, 3);
        fixture.clock.advance(29 * MINUTE);
        await noisy(fixture, 3);
        expect(await exceeded(fixture)).to.have.length(1);
        fixture.clock.advance(MINUTE);
        await noisy(fixture, 3);
        expect(await exceeded(fixture)).to.have.length(1);
        await noisy(fixture, 3);
        expect((await exceeded(fixture)).map(({ data }) => data['count'])).to.deep.equal([4, 4]);
      });

      it('is emitted by exactly one of 64 parallel reports in two processes', async () => {
        const clock = new ManualClock();
        const fixtures = [fixtureOn(store, clock), fixtureOn(store, clock)];
        const burst = (): Promise<unknown> =>
          Promise.all(Array.from({ length: 64 }, (_, i) => noisy(fixtures[i % 2] as Fixture, 20)));
        await noisy(fixtures[0] as Fixture, 20);
        await burst();
        expect(await exceeded(...fixtures)).to.have.length(1);
        clock.advance(61 * MINUTE);
        await burst();
        const reported = await exceeded(...fixtures);
        expect(reported).to.have.length(2);
        expect(new Set(reported.map(({ id }) => id)).size).to.equal(2);
      });

      it('is emitted once when clocks differ by a minute', async () => {
        const slow = new ManualClock();
        const fast = new ManualClock();
        fast.advance(MINUTE);
        const fixtures = [fixtureOn(store, slow), fixtureOn(store, fast)];
        for (let i = 0; i < 40; i++) await noisy(fixtures[i % 2] as Fixture, 7);
        expect(await exceeded(...fixtures)).to.have.length(1);
      });

      it('is emitted by the next occurrence when a process died between the count and the event', async () => {
        const clock = new ManualClock();
        const fixture = fixtureOn(store, clock);
        for (let i = 0; i < 3; i++) await noisy(fixture, 3);
        await countedAndDead(store, clock);
        expect(await exceeded(fixture)).to.have.length(0);
        await noisy(fixture, 3);
        expect((await exceeded(fixture)).map(({ data }) => data['count'])).to.deep.equal([5]);
      });

      it('is emitted by the job, even hours later, when no further occurrence arrives', async () => {
        const clock = new ManualClock();
        const fixture = fixtureOn(store, clock, (deps) => {
          deps.filters = () => [watching(3, clock.iso())];
        });
        for (let i = 0; i < 3; i++) await noisy(fixture, 3);
        await countedAndDead(store, clock);
        const heir = fixtureOn(store, clock, (deps) => {
          deps.filters = () => [watching(3, '2026-01-01T00:00:00.000Z')];
        });
        clock.advance(3 * 60 * MINUTE);
        await heir.jobs.sweep();
        await heir.jobs.sweep();
        expect((await exceeded(fixture, heir)).map(({ data }) => data['count'])).to.deep.equal([4]);
      });

      it('is not emitted for occurrences before the rule existed', async () => {
        const clock = new ManualClock();
        const fixture = fixtureOn(store, clock, (deps) => {
          deps.filters = () => [watching(3, '2026-12-01T00:00:00.000Z')];
        });
        const { id } = await fixture.bugs.record(errorReport());
        for (let i = 0; i < 9; i++) await fixture.bugs.record(errorReport());
        clock.advance(2 * 60 * MINUTE);
        expect(await fixture.muting.mute(id, mute(3))).to.equal(true);
        await fixture.jobs.sweep();
        await noisy(fixture, 3);
        expect(await exceeded(fixture)).to.deep.equal([]);
      });

      it('is emitted again with the same id when no listener accepted it', async () => {
        const clock = new ManualClock();
        const ids: string[] = [];
        const deaf = fixtureOn(store, clock, (deps) => {
          deps.emit = async (_event, _data, { id }) => {
            ids.push(id);
            return false;
          };
        });
        for (let i = 0; i < 3; i++) await noisy(deaf, 2);
        await settled(deaf);
        clock.advance(10_001);
        const heir = fixtureOn(store, clock);
        await heir.jobs.reconcile();
        expect((await exceeded(heir)).map(({ id }) => id)).to.deep.equal(ids);
      });

      it('is evaluated per group, and never for reports without a threshold', async () => {
        const fixture = fixtureOn(store);
        const of = (name: string, threshold: number | null) =>
          fixture.bugs.record(
            errorReport({ exception_class: name, title: name, file_path: `${name}.ts`, muted_by: mute(threshold) }),
          );
        for (let i = 0; i < 3; i++) await Promise.all([of('A', 2), of('B', 2), of('C', null), of('D', 5)]);
        expect((await exceeded(fixture)).map(({ data }) => data['ref'])).to.have.length(2);
      });

      /** The next count of the group, whose process is gone before it could look at it. */
      async function countedAndDead(on: DocumentStore, clock: ManualClock): Promise<void> {
        const item = (await fixtureOn(on, clock).deps.items.find({ limit: 1 })).items[0];
        const update = {
          inc: { hit_count: 1, [`minutes.${toMinuteKey(clock.now())}`]: 1 },
          max: { updated_at: clock.iso() },
        };
        await fixtureOn(on, clock).deps.items.change({ id: item?.id ?? '' }, update);
      }
    });
  }
});
