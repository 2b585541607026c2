/**
 * The evaluator (contract 30): what is due, in two phases. First all new states, each written by compare-and-set, so that
 * a heartbeat which arrives meanwhile wins; then the alarms, over the states as they are now, so that row order never
 * matters. A run that is killed between the two leaves `undecided` monitors that stay due, and the next run decides.
 */
import { inject, injectable } from '../../kernel/contract.js';
import type { RunRecord, RunTrigger } from '../../ports/domain/watchdog.js';
import type { Alarms } from './alarms.js';
import type { Cleanup } from './cleanup.js';
import { isoOf, type Deps } from './deps.js';
import { LeaseLost, type EvaluatorLease, type Held } from './lease.js';
import type { MonitorDoc, RunDoc } from './model.js';
import { ALARMS, CLEANUP, DEPS, LEASE, OUTAGES, OUTBOX, RUNS } from './names.js';
import { creditSince, type Gap, type Outages } from './outage.js';
import type { Outbox } from './outbox.js';
import { MAX_CHANGES, recordOf, type Runs } from './runs.js';
import { intervalOf, thresholds } from './timing.js';
import { Plan } from './transition.js';
import { writePlans, type Planned } from './writes.js';

const PAGE = 1_000;

/** What the first phase found. */
interface Due {
  undecided: MonitorDoc[];
  waiting: MonitorDoc[];
  relook: MonitorDoc[];
  /** Monitors with something to tell. */
  told: string[];
  changes: Plan[];
}

@injectable()
export class Evaluator {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(LEASE) private readonly lease: EvaluatorLease,
    @inject(RUNS) private readonly runs: Runs,
    @inject(OUTAGES) private readonly outages: Outages,
    @inject(ALARMS) private readonly alarms: Alarms,
    @inject(CLEANUP) private readonly cleanup: Cleanup,
    @inject(OUTBOX) private readonly outbox: Outbox,
  ) {}

  /** See `WatchdogApi.evaluate`. */
  async evaluate<T>(
    trigger: RunTrigger,
    also?: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ run: RunRecord; also: T | undefined } | null> {
    const held = await this.lease.take();
    if (held === null) return null;
    try {
      const run = await this.#recorded(trigger, held);
      return { run, also: await also?.(held.signal) };
    } finally {
      await held.release();
    }
  }

  async #recorded(trigger: RunTrigger, held: Held): Promise<RunRecord> {
    const { clock, log } = this.deps;
    const began = clock.monotonic();
    const run = await this.runs.begin(trigger, held.fence);
    try {
      await this.#run(run, held);
      run.cleanup = await this.cleanup.run(held.check);
      return await this.runs.finish(run, 'ok', clock.monotonic() - began);
    } catch (error) {
      if (error instanceof LeaseLost) {
        log.warn({ run_id: run.id }, 'a run of the evaluator lost its lease');
        return recordOf({ ...run, result: 'aborted' });
      }
      await this.runs.finish(run, 'error', clock.monotonic() - began);
      throw error;
    }
  }

  async #run(run: RunDoc, held: Held): Promise<void> {
    const now = this.deps.clock.now();
    const due = await this.#states(run, held, now);
    held.check();
    const decided = await this.alarms.decide(due.undecided, now);
    held.check();
    const freed = await this.alarms.release(await this.alarms.freed(), now);
    const waiting = [...due.waiting, ...freed.waiting];
    for (const top of due.relook) {
      const looked = await this.alarms.relook(top, now);
      waiting.push(...looked.waiting);
      run.errors += looked.errors;
    }
    held.check();
    const over = waiting.filter(({ next_check_at }) => next_check_at !== null && next_check_at < isoOf(now));
    const deferred = await this.alarms.defer(over, now);
    run.alarms_emitted = decided.emitted.length + deferred.emitted.length;
    run.alarms_suppressed = decided.suppressed.length;
    run.errors += decided.errors + freed.errors + deferred.errors;
    this.#tellChanges(run, due.changes, decided.suppressed);
    const told = [...decided.emitted, ...decided.suppressed, ...deferred.emitted].map(({ before }) => before.id);
    await this.outbox.flushAll([...new Set([...due.told, ...told])]);
  }

  #tellChanges(run: RunDoc, changes: readonly Plan[], suppressed: readonly Plan[]): void {
    const by = new Map(suppressed.map(({ next }) => [next.source, next.suppressed_by]));
    run.changes = changes.slice(0, MAX_CHANGES).map(({ before, next }) => ({
      source: next.source,
      from: before.state,
      to: next.state,
      suppressed_by: by.get(next.source) ?? null,
    }));
  }

  /** The first phase: reads what is due, page by page, and writes the new states. */
  async #states(run: RunDoc, held: Held, now: number): Promise<Due> {
    const due: Due = { undecided: [], waiting: [], relook: [], told: [], changes: [] };
    const outages = await this.outages.gaps();
    let after: string | null = null;
    do {
      const page: { items: MonitorDoc[]; next: string | null } = await this.deps.monitors.find({
        filter: { next_check_at: { gt: '', lt: isoOf(now) } },
        sort: [['next_check_at', 'asc']],
        limit: PAGE,
        after,
      });
      after = page.next;
      run.evaluated += page.items.length;
      held.check();
      await this.#page(run, page.items, due, outages, now);
    } while (after !== null);
    return due;
  }

  async #page(
    run: RunDoc,
    docs: readonly MonitorDoc[],
    due: Due,
    outages: { gaps: Gap[]; open: boolean },
    now: number,
  ): Promise<void> {
    const planned: Planned[] = [];
    for (const doc of docs) {
      if (doc.relook) due.relook.push(doc);
      if (doc.undecided) due.undecided.push(doc);
      else if (doc.released_at !== null) due.waiting.push(doc);
      try {
        const plan = this.#judge(doc, outages, now);
        if (plan !== null) planned.push(plan);
      } catch (error) {
        run.errors++;
        this.deps.log.error({ err: error, monitor: doc.id }, 'a monitor could not be evaluated');
      }
    }
    const { won, errors } = await writePlans(this.deps.monitors, planned, this.deps.log);
    run.errors += errors;
    for (const plan of won) {
      const { before, next } = plan;
      if (before.state === next.state) continue;
      due.changes.push(plan);
      due.told.push(next.id);
      if (next.state === 'warning') run.to_warning++;
      else {
        run.to_down++;
        due.undecided.push(next);
      }
    }
  }

  /** Null: nothing to write here. */
  #judge(doc: MonitorDoc, { gaps, open }: { gaps: Gap[]; open: boolean }, now: number): Planned | null {
    if (doc.deleted_at !== null || doc.last_heartbeat_at === null) return null;
    if (doc.state !== 'up' && doc.state !== 'warning') return null;
    const last = Date.parse(doc.last_heartbeat_at);
    if (Number.isNaN(last)) throw new TypeError('the time of the last heartbeat cannot be read');
    const credit = creditSince(gaps, last);
    const { warn, down } = thresholds(last + credit, intervalOf(doc));
    const plan = new Plan(doc, this.deps.ids, now);
    if (now > down) return { plan: plan.down(down, 'No heartbeat beyond four intervals'), credit };
    if (now > warn && doc.state === 'up') {
      return { plan: plan.to('warning', 'No heartbeat beyond two intervals'), credit };
    }
    // Credited, so due later. While the gap is open the credit grows with every run, and writing it would be for nothing.
    return open || doc.relook ? null : { plan, credit };
  }
}
