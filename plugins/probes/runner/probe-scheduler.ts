/**
 * One process holds a lease and runs all probes (contract 30, probes). Each probe is read again
 * right before its run, so that an outdated version never runs.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { LeaseLost, createProcessLease, type HeldLease, type Lease, type LeaseRow } from '../../../lib/lease.js';
import { iteratePages } from '../../../lib/paging.js';
import { toIsoString } from '../../../lib/time.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';
import { DEPS } from '../deps.js';
import type { ProbeDoc } from '../model/probe.js';
import { toObservation, toVisibleResult, type ProbeResult } from '../model/probe-result.js';
import { getNextTime, ProbeTimetable } from '../model/probe-timetable.js';
import { ProbeService } from '../probe-service.js';
import { ProbeRunner } from './probe-runner.js';
import type { WatchdogApi } from '../../../ports/domain/watchdog.js';
import type { Logger } from '../../../ports/logger.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

export const PROBE_LEASE_MS = 45_000;
export const MAX_CONCURRENT_PROBES = 64;
/** Each may take its whole timeout, and others must not wait. */
export const MAX_CONCURRENT_FAILING_PROBES = MAX_CONCURRENT_PROBES / 2;
const TICK_INTERVAL_MS = 100;
const POLL_INTERVAL_MS = 4_000;
/** Clocks of processes differ, and a write becomes visible after its timestamp. */
const CHANGE_OVERLAP_MS = 60_000;
const RETRY_DELAY_MS = 20_000;
const PAGE_SIZE = 500;

@injectable()
export class ProbeScheduler {
  #timer: NodeJS.Timeout | null = null;
  #lease: Lease<ProcessOwner> | null = null;
  #held: HeldLease | null = null;
  #table: ProbeTimetable;
  readonly #knownVersions = new Map<string, string>();
  readonly #queue: string[] = [];
  readonly #failing: string[] = [];
  #runningFailing = 0;
  readonly #runningProbes = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, number>();
  readonly #failedLastTime = new Set<string>();
  #looked = -Infinity;
  #newestUpdate = '';
  #loaded = false;
  #ticking: Promise<void> | null = null;

  constructor(
    @inject(DEPS.probes) private readonly probeRows: Collection<ProbeDoc>,
    @inject(DEPS.leases) private readonly leases: Collection<LeaseRow<ProcessOwner>>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.processes) private readonly processes: Processes,
    @inject(DEPS.watchdog) private readonly watchdog: Pick<WatchdogApi, 'recordObservation' | 'find'>,
    @inject(ProbeService) private readonly probes: ProbeService,
    @inject(ProbeRunner) private readonly asker: ProbeRunner,
  ) {
    this.#table = new ProbeTimetable(clock.monotonic());
  }

  get size(): number {
    return this.#knownVersions.size;
  }

  start(): void {
    this.#timer = setInterval(() => this.#runTickSafely(), TICK_INTERVAL_MS);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    await this.#ticking;
    this.#clearQueues();
    await Promise.all(this.#runningProbes.values());
    await this.#held?.release();
    this.#held = null;
  }

  async runTick(): Promise<void> {
    const clock = this.clock;
    if (clock.monotonic() - this.#looked >= POLL_INTERVAL_MS) {
      this.#looked = clock.monotonic();
      if (this.#held === null && !(await this.#acquireLease())) return;
      await this.#loadChanges();
    }
    if (this.#held === null) return;
    for (const name of this.#table.takeDue(clock.monotonic()))
      (this.#failedLastTime.has(name) ? this.#failing : this.#queue).push(name);
    this.#startDue();
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#runningProbes.size > 0) await Promise.all(this.#runningProbes.values());
  }

  #runTickSafely(): void {
    if (this.#ticking !== null) return;
    this.#ticking = this.runTick()
      .catch((err: unknown) => this.log.error({ err }, 'probes could not be read; this will be retried'))
      .finally(() => (this.#ticking = null));
  }

  async #acquireLease(): Promise<boolean> {
    const options = { id: 'prober', what: 'the prober', ttlMs: PROBE_LEASE_MS, expiryMode: 'silence' } as const;
    this.#lease ??= await createProcessLease(
      this.leases,
      { clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
      options,
    );
    this.#held = await this.#lease.acquire();
    if (this.#held === null) return false;
    this.#knownVersions.clear();
    this.#failures.clear();
    this.#table = new ProbeTimetable(this.clock.monotonic());
    this.#newestUpdate = '';
    this.#loaded = false;
    return true;
  }

  async #loadChanges(): Promise<void> {
    // After the clock moved backwards, changes are older than the newest seen one.
    const since = Math.min(Date.parse(this.#newestUpdate), this.clock.now());
    const from = this.#newestUpdate === '' ? '' : toIsoString(since - CHANGE_OVERLAP_MS);
    const query = {
      filter: { updated_at: { gte: from } },
      sort: [['updated_at', 'asc']] as [string, 'asc'][],
      limit: PAGE_SIZE,
    };
    for await (const docs of iteratePages(this.probeRows, query)) {
      for (const { id, probe, updated_at } of docs) {
        if (updated_at > this.#newestUpdate) this.#newestUpdate = updated_at;
        if (this.#knownVersions.get(id) === updated_at) continue;
        const soon = this.#loaded;
        this.#knownVersions.set(id, updated_at);
        this.#failures.delete(id);
        const now = this.clock.monotonic();
        this.#table.schedule(id, soon ? now : getNextTime(id, probe.interval_seconds * 1000, now));
      }
    }
    this.#loaded = true;
  }

  #startDue(): void {
    while (this.#runningProbes.size < MAX_CONCURRENT_PROBES) {
      const fails = this.#queue.length === 0;
      if (fails && this.#runningFailing >= MAX_CONCURRENT_FAILING_PROBES) return;
      const name = (fails ? this.#failing : this.#queue).shift();
      if (name === undefined) return;
      if (this.#runningProbes.has(name) || !this.#hasLease()) continue;
      if (fails) this.#runningFailing++;
      const running = this.#runProbe(name)
        .catch((err: unknown) => {
          this.log.error({ err, monitor: name }, 'a probe failed with an internal error');
          this.#table.schedule(name, this.clock.monotonic() + RETRY_DELAY_MS);
        })
        .finally(() => {
          this.#runningProbes.delete(name);
          if (fails) this.#runningFailing--;
          this.#startDue();
        });
      this.#runningProbes.set(name, running);
    }
  }

  /** Clears the state when another process may run the probes. */
  #hasLease(): boolean {
    try {
      this.#held?.check();
      return this.#held !== null;
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      this.log.warn({}, 'the lease of the probe runner was lost; another process runs the probes');
      this.#held = null;
      this.#clearQueues();
      return false;
    }
  }

  async #runProbe(name: string): Promise<void> {
    const doc = await this.probes.find(name);
    if (doc === null) return this.#unschedule(name);
    const seen = await this.#redact(name, await this.asker.run(this.probes.decrypt(doc)));
    if (seen.ok) this.#failedLastTime.delete(name);
    else this.#failedLastTime.add(name);
    if (seen.unsupported === true) {
      // The state of the target is unknown.
      this.log.warn({ monitor: name, reason: seen.message }, 'this system cannot run a probe');
      return this.#reschedule(doc, 0);
    }
    const failures = seen.ok ? 0 : (this.#failures.get(name) ?? 0) + 1;
    const now = this.clock.now();
    const observation = toObservation(name, doc.probe, seen, failures, now);
    if (!(await this.watchdog.recordObservation(observation))) {
      // Its monitor was deleted while this plugin was disabled.
      await this.probeRows.remove({ id: name, updated_at: doc.updated_at });
      return this.#unschedule(name);
    }
    this.#reschedule(doc, failures);
  }

  /** Applies to readers of a project's monitor. */
  async #redact(name: string, seen: ProbeResult): Promise<ProbeResult> {
    if (seen.public || seen.bare_message === undefined) return seen;
    const monitor = await this.watchdog.find(name);
    return monitor === null || monitor.project === null ? seen : toVisibleResult(seen, 'public');
  }

  #reschedule({ id, probe }: ProbeDoc, failures: number): void {
    const now = this.clock.monotonic();
    const interval = probe.interval_seconds * 1000;
    if (failures > 0) this.#failures.set(id, failures);
    else this.#failures.delete(id);
    const retries = failures > 0 && failures <= probe.retries;
    this.#table.schedule(id, retries ? now + Math.min(RETRY_DELAY_MS, interval) : getNextTime(id, interval, now));
  }

  #clearQueues(): void {
    this.#queue.length = 0;
    this.#failing.length = 0;
  }

  #unschedule(name: string): void {
    this.#failedLastTime.delete(name);
    this.#knownVersions.delete(name);
    this.#failures.delete(name);
    this.#table.remove(name);
  }
}
