/**
 * Due monitors in two phases: all states first, then suppression, so that row order does not matter
 * (contract 30). Each monitor is written once, state and alarm together, by compare-and-set. A
 * concurrent heartbeat wins, and a killed run has alarmed exactly for what it wrote.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { LeaseLost, createProcessLease, type HeldLease } from '../../../lib/lease.js';
import { iteratePages } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { RunRecord, RunTrigger } from '../../../ports/domain/watchdog.js';
import type { Page, StoreDamaged, Collection } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { DeferredAlarmService } from './deferred-alarms.js';
import { findDownAncestor, toRelative, AncestryLoader, type TreeFamily } from '../tree/ancestry.js';
import { GroupStateService } from '../group-states.js';
import { RetentionCleanup } from './cleanup.js';
import { DEPS } from '../deps.js';
import { readDueMonitors } from './due-monitors.js';
import type { MonitorDoc, RunDoc, LeaseDoc } from '../model/documents.js';
import { sumGapsSince, type Gap, OutageRecorder } from './outages.js';
import { MAX_RECORDED_CHANGES, toRunRecord, EvaluatorRunService } from './runs.js';
import { NO_MAINTENANCE } from '../model/monitor-view.js';
import {
  restoreHeldState,
  isInMaintenance,
  isSilenced,
  getNextCheck,
  getRunLimit,
  findRunStart,
  getActiveLimits,
} from '../model/timing.js';
import { WindowApplier } from '../maintenance/window-applier.js';
import { MonitorChangeSet } from '../model/monitor-change-set.js';
import { formatSilenceReason } from '../model/down-explanation.js';
import { writeChangeSets, type PendingWrite } from '../change-set-writes.js';
import type { Processes } from '../../../ports/processes.js';
import type { Logger } from '../../../ports/logger.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

export const EVALUATOR_LEASE_MS = 45_000;
const PAGE_SIZE = 1_000;
const PREFETCH_PAGE_SIZE = 250;
const TIME_FIELDS = ['last_heartbeat_at', 'down_since_utc', 'left_down_at', 'released_at', 'reparented_at'] as const;

interface RunContext {
  family: TreeFamily;
  waiting: MonitorDoc[];
  relook: MonitorDoc[];
  changed: MonitorDoc[];
  outages: { gaps: Gap[]; open: boolean };
}

@injectable()
export class MonitorEvaluator {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.leases) private readonly leases: Collection<LeaseDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.processes) private readonly processes: Processes,
    @inject(EvaluatorRunService) private readonly runs: EvaluatorRunService,
    @inject(OutageRecorder) private readonly outages: OutageRecorder,
    @inject(AncestryLoader) private readonly ancestry: AncestryLoader,
    @inject(DeferredAlarmService) private readonly alarms: DeferredAlarmService,
    @inject(RetentionCleanup) private readonly cleanup: RetentionCleanup,
    @inject(WindowApplier) private readonly maintenance: WindowApplier,
    @inject(GroupStateService) private readonly groups: GroupStateService,
  ) {
    this.#damage = new CorruptionReporter(log, 'a monitor');
  }

  async evaluate<T>(
    trigger: RunTrigger,
    also?: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ run: RunRecord; also: T | undefined } | null> {
    const held = await this.#acquireLease();
    if (held === null) return null;
    const changed: MonitorDoc[] = [];
    try {
      const run = await this.#runRecorded(trigger, held, changed);
      if (also === undefined || run.result === 'aborted') return { run, also: undefined };
      this.groups.flushLater(changed.splice(0));
      return { run, also: await also(held.signal) };
    } finally {
      await held.release();
      // These writes would delay the run record and the release of the lease.
      this.groups.flushLater(changed);
    }
  }

  /**
   * Keeps runs from overlapping. A frozen run whose lease expired changes nothing: its record
   * compares the fencing number, monitors compare `rev`.
   * @returns null when a live owner holds it
   */
  async #acquireLease(): Promise<HeldLease | null> {
    const options = { id: 'evaluator', what: 'the evaluator', ttlMs: EVALUATOR_LEASE_MS, expiryMode: 'clock' } as const;
    return (
      await createProcessLease(
        this.leases,
        { clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
        options,
      )
    ).acquire();
  }

  /** @param changed receives monitors with entries to flush, even when the run fails later */
  async #runRecorded(trigger: RunTrigger, held: HeldLease, changed: MonitorDoc[]): Promise<RunRecord> {
    const { clock, log } = this;
    const began = clock.monotonic();
    const run = await this.runs.startRun(trigger, held.fence);
    try {
      await this.#run(run, held, changed);
      run.cleanup = await this.cleanup.run(() => held.check());
      return await this.runs.finishRun(run, 'ok', clock.monotonic() - began);
    } catch (error) {
      if (error instanceof LeaseLost) {
        log.warn({ run_id: run.id }, 'a run of the evaluator lost its lease');
        return toRunRecord({ ...run, result: 'aborted' });
      }
      await this.runs.finishRun(run, 'error', clock.monotonic() - began);
      throw error;
    }
  }

  async #run(run: RunDoc, held: HeldLease, changed: MonitorDoc[]): Promise<void> {
    const now = this.clock.now();
    if (held.hasClockMovedBack) run.errors += await this.#rebaseTimes(held, now);
    const windows = await this.maintenance.apply();
    run.errors += windows.errors;
    changed.push(...windows.changed);
    held.check();
    const found = await this.#evaluateStates(run, held, changed, now);
    held.check();
    const released = await this.alarms.releaseAlarms(await this.alarms.findReleased(), now);
    const waiting = [...found.waiting, ...released.waiting];
    for (const top of found.relook) {
      const looked = await this.alarms.reevaluateTree(top, now);
      waiting.push(...looked.waiting);
      run.errors += looked.errors;
    }
    held.check();
    const over = waiting.filter(({ next_check_at }) => next_check_at !== null && next_check_at < toIsoString(now));
    const deferred = await this.alarms.emitDueAlarms(over, now);
    run.alarms_emitted += deferred.emitted.length;
    run.errors += released.errors + deferred.errors;
    changed.push(...deferred.emitted.map(({ next }) => next));
    held.check();
    await this.groups.refreshAll();
  }

  /**
   * Rewrites future times after the clock moved backwards: silence would stay undetected until it
   * catches up. Reads every monitor; rare.
   */
  async #rebaseTimes(held: HeldLease, now: number): Promise<number> {
    const { monitors, ids, log } = this;
    const at = toIsoString(now);
    let errors = 0;
    held.check();
    await this.runs.clampFutureTimes(at);
    for await (const items of iteratePages(monitors, { filter: { deleted_at: null }, limit: PAGE_SIZE })) {
      const pending = items.flatMap((doc): PendingWrite[] => {
        const late = TIME_FIELDS.filter((field) => (doc[field] ?? '') > at);
        const fields = Object.fromEntries(late.map((field) => [field, at]));
        // Credit for time that never passed may have postponed the check.
        const waits = (doc.next_check_at ?? '') > (getNextCheck(doc) ?? '');
        return late.length > 0 || waits ? [{ changeSet: new MonitorChangeSet(doc, ids, now).assign(fields) }] : [];
      });
      errors += (await writeChangeSets(monitors, pending, log)).errors;
      held.check();
    }
    return errors;
  }

  /** Keeps at most two pages in memory: after a long outage every monitor may be due. */
  async #evaluateStates(run: RunDoc, held: HeldLease, changed: MonitorDoc[], now: number): Promise<RunContext> {
    const outages = await this.outages.listGaps();
    const found: RunContext = { family: new Map(), waiting: [], relook: [], changed, outages };
    const first: MonitorDoc[] = [];
    let rest: string | null = null;
    for await (const { items, next } of this.#readDue(run, now, null, PREFETCH_PAGE_SIZE)) {
      held.check();
      this.#markExpectedDown(items, found, now);
      if (first.length >= PAGE_SIZE) continue;
      first.push(...items);
      rest = next;
    }
    await this.#evaluatePage(run, first, found, now);
    if (rest === null) return found;
    for await (const { items } of this.#readDue(run, now, rest, PAGE_SIZE)) {
      held.check();
      await this.#evaluatePage(run, items, found, now);
    }
    return found;
  }

  #readDue(run: RunDoc, now: number, from: string | null, limit: number): AsyncGenerator<Page<MonitorDoc>> {
    const damaged = (error: StoreDamaged): void => {
      run.errors++;
      this.#damage.report(error);
    };
    return readDueMonitors(this.monitors, { now, from, limit, damaged });
  }

  #markExpectedDown(docs: readonly MonitorDoc[], { family, outages }: RunContext, now: number): void {
    for (const doc of docs)
      if (isDownDue(doc, outages.gaps, now)) family.set(doc.source, { ...toRelative(doc), state: 'down' });
  }

  async #evaluatePage(run: RunDoc, docs: readonly MonitorDoc[], found: RunContext, now: number): Promise<void> {
    const { monitors, log } = this;
    run.evaluated += docs.length;
    const late = docs.filter((doc) => isWarningDue(doc, found.outages.gaps, now) || isSilenceOver(doc, now));
    await this.ancestry.loadAncestors(late, found.family);
    const { won, errors } = await writeChangeSets(monitors, this.#evaluateEach(run, docs, found, now), log);
    run.errors += errors;
    for (const changeSet of won) if (changeSet.entries.length > 0) this.#count(run, changeSet, found);
  }

  /** One write at a time, while the previous ones are being stored. */
  *#evaluateEach(run: RunDoc, docs: readonly MonitorDoc[], found: RunContext, now: number): Generator<PendingWrite> {
    for (const doc of docs) {
      if (doc.relook) found.relook.push(doc);
      if (doc.released_at !== null) found.waiting.push(doc);
      try {
        const write = this.#evaluateMonitor(doc, found, now);
        if (write !== null) yield write;
      } catch (error) {
        run.errors++;
        this.log.error({ err: error, monitor: doc.id }, 'a monitor could not be evaluated');
      }
    }
  }

  #count(run: RunDoc, changeSet: MonitorChangeSet, found: RunContext): void {
    const { before, next } = changeSet;
    found.changed.push(next);
    if (next.alarm === 'open' && before.alarm !== 'open') run.alarms_emitted++;
    if (before.state === next.state) return;
    if (next.state === 'warning') run.to_warning++;
    if (next.state === 'down') run.to_down++;
    if (next.alarm === 'suppressed') run.alarms_suppressed++;
    if (run.changes.length >= MAX_RECORDED_CHANGES) return;
    run.changes.push({ source: next.source, from: before.state, to: next.state, suppressed_by: next.suppressed_by });
  }

  #evaluateMonitor(doc: MonitorDoc, { family, outages }: RunContext, now: number): PendingWrite | null {
    const changeSet = new MonitorChangeSet(doc, this.ids, now);
    // The check after a move writes the monitor too.
    const isHeard = isSilenceOver(doc, now) && !doc.relook;
    if (isHeard) changeSet.endSilence(findDownAncestor(doc, family)?.source ?? null);
    const over = typeof doc.maintenance_id === 'string' && !isInMaintenance(doc, now);
    if (over) changeSet.assign(NO_MAINTENANCE);
    const resumed = restoreHeldState(doc, now);
    if (over && resumed.state === 'down') {
      changeSet.setDown(Date.parse(doc.held_since ?? '') || now, 'Maintenance is over: still down');
      if (doc.group === true) return { changeSet };
      return { changeSet: changeSet.raiseAlarm(findDownAncestor(doc, family)?.source ?? null) };
    }
    const due = getThresholds(resumed, outages.gaps);
    if (due === null) {
      if (over) return { changeSet: changeSet.setState(resumed.state, 'Maintenance is over') };
      return isHeard ? { changeSet } : null;
    }
    const { warn, down, credit } = due;
    // The service was late, so the state is unknown.
    const isLateItself = resumed.probed === true;
    if (isLateItself && now > down)
      return { changeSet: changeSet.setState('unknown', 'The service did not probe it in time'), credit };
    if (now > down) {
      changeSet.setDown(down, describeLateness(resumed, now - credit));
      return { changeSet: changeSet.raiseAlarm(findDownAncestor(doc, family)?.source ?? null), credit };
    }
    if (now > warn && resumed.state === 'up' && !isLateItself) {
      const isDueTime = Boolean(resumed.schedule) || Boolean(resumed.period_seconds);
      changeSet.setState(
        'warning',
        isDueTime ? 'No heartbeat at its due time' : 'No heartbeat for more than two intervals',
      );
      if (findDownAncestor(doc, family) === null) changeSet.emitWarning(formatSilenceReason(resumed, now));
      return { changeSet, credit };
    }
    if (over) return { changeSet: changeSet.setState(resumed.state, 'Maintenance is over'), credit };
    // While a gap is open the credit grows with every run, so it is not written.
    return !isHeard && (outages.open || doc.relook) ? null : { changeSet, credit };
  }
}

/**
 * Returns null unless it is evaluated.
 * @throws Error for a damaged document
 */
function getThresholds(doc: MonitorDoc, gaps: readonly Gap[]): { warn: number; down: number; credit: number } | null {
  const { last_heartbeat_at } = doc;
  const last = Date.parse(last_heartbeat_at ?? '');
  if (last_heartbeat_at !== null && Number.isNaN(last))
    throw new TypeError('the time of the last heartbeat cannot be read');
  const credit = sumGapsSince(gaps, last_heartbeat_at === null ? (findRunStart(doc) ?? Infinity) : last);
  const limits = getActiveLimits(doc, credit);
  return limits && { ...limits, credit };
}

/**
 * Formats for the timeline.
 * @param now excludes the service's own outages
 */
function describeLateness(doc: MonitorDoc, now: number): string {
  const begun = findRunStart(doc);
  if (begun !== null && now > begun + getRunLimit(doc)) return 'A run did not end in time';
  if (doc.schedule) return 'No heartbeat within the grace period of its schedule';
  return doc.period_seconds
    ? 'No heartbeat within its period and grace period'
    : 'No heartbeat for more than four intervals';
}

const isSilenceOver = (doc: MonitorDoc, now: number): boolean =>
  typeof doc.silence_id === 'string' && !isSilenced(doc, now);

function isWarningDue(doc: MonitorDoc, gaps: readonly Gap[], now: number): boolean {
  if (isDownDue(doc, gaps, now)) return true;
  try {
    return now > (getThresholds(restoreHeldState(doc, now), gaps)?.warn ?? Infinity);
  } catch {
    return false;
  }
}

function isDownDue(doc: MonitorDoc, gaps: readonly Gap[], now: number): boolean {
  const resumed = restoreHeldState(doc, now);
  if (resumed.state === 'down' && doc.state !== 'down') return true;
  try {
    return resumed.probed !== true && now > (getThresholds(resumed, gaps)?.down ?? Infinity);
  } catch {
    return false;
  }
}
