/**
 * The watchdog against a small reference model: random heartbeats, clock steps and evaluations,
 * thousands of steps. The model is written from the contract's sentences and knows nothing of due
 * times, plans or compare-and-set.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { scaleRepeats } from '../../../support/repeat-budget.js';
import { ANYONE, STORES, fixtureOn, type Told, type Fixture } from '../fixture.js';

const SOURCES = ['a', 'b', 'c', 'd', 'e', 'f'];
const STATUSES = ['ok', 'warning', 'error', 'stopped', 'maintenance'] as const;
const INTERVALS = [1, 7.5, 30, 1_000];

type Step =
  | { do: 'beat'; source: string; status: (typeof STATUSES)[number]; interval: number; failed: boolean }
  | { do: 'wait'; ms: number }
  | { do: 'evaluate' }
  | { do: 'set back'; ms: number }
  | { do: 'move'; source: string; parent: string | null }
  | { do: 'delete'; source: string };

const source = fc.constantFrom(...SOURCES);
// Parents report more often than children: so children are suppressed, and left waiting.
const reporting = fc.constantFrom(...SOURCES, 'a', 'a', 'a', 'c', 'c');
const beat = fc.record({
  do: fc.constant('beat' as const),
  source: reporting,
  status: fc.oneof({ weight: 6, arbitrary: fc.constant('ok' as const) }, fc.constantFrom(...STATUSES)),
  interval: fc.constantFrom(...INTERVALS),
  failed: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
});
const wait = fc.record({
  do: fc.constant('wait' as const),
  ms: fc.constantFrom(1, 999, 2_001, 29_999, 30_000, 60_000, 60_000, 60_000, 300_001),
});
const evaluate = fc.constant({ do: 'evaluate' as const });
const back = fc.record({ do: fc.constant('set back' as const), ms: fc.constantFrom(600_000, 86_400_000) });
const move = fc.record({ do: fc.constant('move' as const), source, parent: fc.option(source, { nil: null }) });
const remove = fc.record({ do: fc.constant('delete' as const), source });
const simple = fc.oneof(
  { weight: 4, arbitrary: beat },
  { weight: 4, arbitrary: wait },
  { weight: 3, arbitrary: evaluate },
  { weight: 1, arbitrary: back },
);
const moving = fc.oneof(
  { weight: 5, arbitrary: beat },
  { weight: 5, arbitrary: wait },
  { weight: 4, arbitrary: evaluate },
  { weight: 1, arbitrary: move },
  { weight: 1, arbitrary: remove },
);

interface Modelled {
  state: string;
  alarm: string;
  last: number;
  interval: number;
  parent: string | null;
  /** Since when no ancestor is down, while its alarm is suppressed. */
  clear: number | null;
  events: string[];
}

class Model {
  readonly all = new Map<string, Modelled>();

  #downAbove(m: Modelled): boolean {
    for (let p = m.parent; p !== null; p = this.all.get(p)?.parent ?? null) {
      if (this.all.get(p)?.state === 'down') return true;
    }
    return false;
  }

  /** Follows when suppressed monitors got free, or lost that again. */
  #watch(now: number): void {
    for (const m of this.all.values()) {
      if (m.alarm !== 'suppressed' || this.#downAbove(m)) m.clear = null;
      else m.clear ??= now;
    }
  }

  beat(step: Extract<Step, { do: 'beat' }>, parent: string | null, now: number): void {
    const m: Modelled = this.all.get(step.source) ?? {
      state: 'none',
      alarm: 'none',
      last: now,
      interval: 0,
      parent,
      clear: null,
      events: [],
    };
    this.all.set(step.source, m);
    const { status } = step;
    m.state =
      status === 'stopped' || status === 'maintenance' ? status : status === 'ok' && !step.failed ? 'up' : 'warning';
    m.last = now;
    m.interval = step.interval;
    if (m.alarm === 'open') m.events.push('monitor.recovered');
    m.alarm = 'none';
    this.#watch(now);
  }

  /** Nothing has happened later than now. */
  setBack(now: number): void {
    for (const m of this.all.values()) {
      m.last = Math.min(m.last, now);
      if (m.clear !== null) m.clear = Math.min(m.clear, now);
    }
  }

  evaluate(now: number): void {
    const fallen: Modelled[] = [];
    for (const m of this.all.values()) {
      if (m.state !== 'up' && m.state !== 'warning') continue;
      const silent = now - m.last;
      if (silent > m.interval * 4000) {
        m.state = 'down';
        fallen.push(m);
      } else if (silent > m.interval * 2000) m.state = 'warning';
    }
    for (const m of fallen) {
      if (this.#downAbove(m)) m.alarm = 'suppressed';
      else this.#alarm(m);
    }
    this.#watch(now);
    for (const m of this.all.values()) {
      if (m.clear !== null && now - m.clear >= Math.max(60_000, m.interval * 1000)) this.#alarm(m);
    }
    this.#watch(now);
  }

  #alarm(m: Modelled): void {
    m.alarm = 'open';
    m.events.push('monitor.down');
  }
}

const namesOf = (reported: readonly Told[], of: string): string[] =>
  reported.filter(({ data }) => data.source === of).map(({ event }) => event);

/** Alternates down and an end, a recovery or its deletion; each end names its down's alarm. */
function checkPairs(reported: readonly Told[]): void {
  for (const name of SOURCES) {
    const own = reported.filter(({ data }) => data.source === name);
    for (const [i, { event, data }] of own.entries()) {
      const ends = data.resolution === 'deleted' ? 'monitor.alarm_closed' : 'monitor.recovered';
      expect(event, `${name} ${i}`).to.equal(i % 2 === 0 ? 'monitor.down' : ends);
      if (i % 2 === 1) expect(data.alarm_id).to.equal(own[i - 1]?.data.alarm_id);
    }
  }
  expect(new Set(reported.map(({ id }) => id)).size, 'each once').to.equal(reported.length);
}

/**
 * A run before and after the clock is set back: in between nothing happens in a service that
 * evaluates every minute.
 */
const withRuns = (steps: readonly Step[]): Step[] =>
  steps.flatMap((step): Step[] => (step.do === 'set back' ? [{ do: 'evaluate' }, step, { do: 'evaluate' }] : [step]));

async function perform(fixture: Fixture, step: Step): Promise<void> {
  if (step.do === 'wait') fixture.clock.advance(step.ms);
  else if (step.do === 'evaluate') expect((await fixture.evaluate()).errors).to.equal(0);
  else if (step.do === 'set back') fixture.clock.set(fixture.clock.now() - step.ms);
  else if (step.do === 'beat') {
    const { status, interval, failed } = step;
    await fixture.beat(step.source, { status, interval, checks: { it: { ok: !failed } } });
  } else if ((await fixture.monitors.find(step.source)) !== null) {
    if (step.do === 'delete') await fixture.monitors.remove(step.source, ANYONE);
    else {
      await fixture.monitors.update(step.source, { parent_source: step.parent }, ANYONE).catch((error: Error) => {
        if (!/cycle|own parent/.test(error.message)) throw error;
      });
    }
  }
}

/** How often each property runs: every step of a durable engine waits for its disk. */
const RUNS: Readonly<Record<string, number>> = { memory: 25, sqlite: 2, mongodb: 1 };

for (const engine of STORES) {
  const numRuns = scaleRepeats(RUNS[engine.name] ?? 1);
  /** Over a fresh store, after one that may skip the test. */
  const within = (work: (fixture: Fixture, steps: Step[]) => Promise<void>) => async (steps: Step[]) => {
    const { store, close } = await engine.open(() => expect.fail('the engine went away'));
    const fixture = fixtureOn(store);
    try {
      await work(fixture, steps);
      await fixture.settled();
    } finally {
      await close();
    }
  };
  const steps = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> => fc.array(step, { minLength: 40, maxLength: 120 });

  describe(`watchdog compared with a model (${engine.name})`, () => {
    before(async function () {
      await (await engine.open(() => this.skip())).close();
    });

    it('produces the same states, alarms and events after every step', async function () {
      this.timeout(scaleRepeats(300_000));
      // A fixed forest: b and c below a, d below c, e below d; f alone.
      const parents: Record<string, string> = { b: 'a', c: 'a', d: 'c', e: 'd' };
      await fc.assert(
        fc.asyncProperty(
          steps(simple),
          within(async (fixture, all) => {
            const model = new Model();
            for (const [n, step] of withRuns(all).entries()) {
              const fresh = step.do === 'beat' && !model.all.has(step.source);
              await perform(fixture, step);
              const now = fixture.clock.now();
              if (step.do === 'beat') {
                const parent = parents[step.source] ?? null;
                if (fresh && parent !== null)
                  await fixture.monitors.update(step.source, { parent_source: parent }, ANYONE);
                model.beat(step, parent, now);
              } else if (step.do === 'evaluate') model.evaluate(now);
              else if (step.do === 'set back') model.setBack(now);
              await fixture.settled();
              for (const [name, expected] of model.all) {
                const found = await fixture.monitor(name);
                expect({ state: found.state, alarm: found.alarm }, `${name} after step ${n}`).to.deep.equal({
                  state: expected.state,
                  alarm: expected.alarm,
                });
                expect(namesOf(fixture.told, name), `${name} after step ${n}`).to.deep.equal(expected.events);
              }
            }
            checkPairs(fixture.told);
          }),
        ),
        { numRuns },
      );
    });

    it('neither loses nor duplicates alarms while the tree and its monitors change', async function () {
      this.timeout(scaleRepeats(300_000));
      await fc.assert(
        fc.asyncProperty(
          steps(moving),
          within(async (fixture, all) => {
            for (const step of all) await perform(fixture, step);
            // Time to decide whatever is open: then exactly those that are down below nobody down
            // have told so.
            for (let i = 0; i < 3; i++) {
              fixture.clock.advance(600_000);
              await fixture.evaluate();
            }
            await fixture.settled();
            checkPairs(fixture.told);
            const { docs } = await fixture.status.listPage({ limit: 1_000 }, ANYONE);
            const by = new Map(docs.map((doc) => [doc.source, doc]));
            for (const doc of docs) {
              let above = false;
              for (let p = doc.parent_source; p !== null; p = by.get(p)?.parent_source ?? null) {
                if (by.get(p)?.state === 'down') above = true;
              }
              expect(doc.relook, doc.source).to.equal(false);
              const open = namesOf(fixture.told, doc.source).length % 2 === 1;
              expect(open, `${doc.source} told`).to.equal(doc.alarm === 'open');
              if (doc.state === 'down' && !above) expect(doc.alarm, doc.source).to.equal('open');
              if (doc.state !== 'down') expect(doc.alarm, doc.source).to.equal('none');
            }
            for (const name of SOURCES) {
              if (!by.has(name)) expect(namesOf(fixture.told, name).length % 2, `${name} is gone`).to.equal(0);
            }
          }),
        ),
        { numRuns },
      );
    });
  });
}
