/**
 * Every change of a locked job checks the lock's token: a process that lost its lock, because it
 * was slow or paused, can neither start nor finish the job. Locks are short and renewed during the
 * run; a short job's lock outlives its time limit by a margin, which also covers clock differences.
 */
import { hostname } from 'node:os';
import { toJobId, type JobParameters, type JobRepository } from 'agenda';
import { ClockStepDetector } from '../../lib/clock-skew.js';
import { redactText } from '../../lib/text/hidden-texts.js';
import type { RepeatedLineLimiter } from '../../lib/text/repeated-line-limiter.js';
import { toIsoString } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, DocumentStore, Filter, Json, Update } from '../../ports/store/index.js';
import { JOBS_COLLECTION, type JobDoc, type JobPayload } from './job-document.js';
import { JobStore, type DueTime } from './job-store.js';

const LOCK_OWNER = `${hostname()}:${process.pid}`;
const FAR_FUTURE = new Date('9999-12-31T00:00:00.000Z');
/** Even if the clock changes before it starts. */
const ALWAYS_DUE = new Date(0);
/** A run that starts this soon after its lock was stored does not renew it. */
const FRESH_LOCK_MS = 250;

export interface LockKey {
  id: string;
  token: string;
}

interface HeldLock extends LockKey {
  /** When the run started, or else when the lock was taken, by the monotonic clock. */
  since: number;
  started_at: string | null;
}

export interface JobRepositoryDependencies {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  faults?: RepeatedLineLimiter;
  /** Undefined for names that this process does not run. */
  leaseMs: (name: string) => number | undefined;
  /** Lifetime of a renewed lock, and the maximum of any lock. */
  lockMs: number;
  names: () => string[];
  next: (cron: string) => string;
}

type UsedRepository = Pick<JobRepository, 'connect' | 'getNextJobToRun' | 'saveJobState' | 'unlockJob' | 'unlockJobs'>;

export class StoreJobRepository implements UsedRepository {
  readonly rows: JobStore;
  /** Set when no further job may be taken. */
  stopping = false;
  private readonly jobs: Collection<JobDoc>;
  private readonly steps: ClockStepDetector;
  /**
   * Locks of this process by token, because a released job may be taken again before the release is
   * acknowledged.
   */
  private readonly held = new Map<string, HeldLock>();
  private readonly idle: (() => void)[] = [];
  private readonly polls = new Set<Promise<unknown>>();
  private dueNames: Promise<ReadonlySet<string>> | null = null;
  private unavailableSince: number | null = null;

  constructor(private readonly parts: JobRepositoryDependencies) {
    const { store, clock, ids, lockMs } = parts;
    this.jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    this.steps = new ClockStepDetector(clock, lockMs);
    this.rows = new JobStore(this.jobs, clock, ids, parts.next);
  }

  async connect(): Promise<void> {}

  get runningCount(): number {
    return this.held.size;
  }

  /** No poll from before `stopping` can take a lock then. */
  async waitUntilIdle(): Promise<void> {
    await Promise.allSettled(this.polls);
    if (this.held.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private addHeldLock({ id, token }: LockKey): void {
    this.held.set(token, { id, token, since: this.parts.clock.monotonic(), started_at: null });
  }

  private removeHeldLock({ token }: LockKey): void {
    this.held.delete(token);
    if (this.held.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  private async findDueNames(): Promise<ReadonlySet<string>> {
    const { clock, log, faults, names } = this.parts;
    try {
      const found = await this.rows.findDueNames(names());
      if (this.unavailableSince !== null) {
        const seconds = Math.round((clock.monotonic() - this.unavailableSince) / 1000);
        this.unavailableSince = null;
        log.warn({ seconds, left_out: faults?.reset() ?? 0 }, 'the store is reachable again');
      }
      return found;
    } catch (error) {
      this.unavailableSince ??= clock.monotonic();
      throw error;
    }
  }

  private findDueNamesOnce(): Promise<ReadonlySet<string>> {
    if (this.dueNames === null) {
      this.dueNames = this.findDueNames();
      queueMicrotask(() => (this.dueNames = null));
    }
    return this.dueNames;
  }

  async getNextJobToRun(name: string): Promise<JobParameters | undefined> {
    const poll = this.takeNext(name);
    this.polls.add(poll);
    return poll.finally(() => this.polls.delete(poll));
  }

  private async takeNext(name: string): Promise<JobParameters | undefined> {
    if (this.stopping || this.parts.leaseMs(name) === undefined) return undefined;
    if (!(await this.findDueNamesOnce()).has(name) || this.stopping) return undefined;
    const now = this.parts.clock.iso();
    const end = this.getLockExpiryBound();
    const free =
      end === now ? { due_at: { lte: now } } : { or: [{ lock: null, due_at: { lte: now } }, { due_at: { lte: end } }] };
    const job = await this.lockFirst(name, { name, ...free }, { unset: ['key'] });
    if (job === undefined || !this.stopping) return job;
    await this.unlockJob(job);
    return undefined;
  }

  /**
   * After a forward clock step the previous clock applies until the longest lock is over by the
   * monotonic clock, so that locks do not expire early.
   */
  private getLockExpiryBound(): string {
    this.steps.check();
    return toIsoString(this.parts.clock.now() - Math.max(0, this.steps.recentMs));
  }

  async lockNamed(name: string, repeat: number | string | undefined, data: Json): Promise<JobParameters | undefined> {
    const setOnInsert = { name, fail_count: 0, ...(repeat === undefined ? {} : { repeat }) };
    await this.jobs.change({ id: name }, { setOnInsert }, { upsert: true });
    return this.lockFirst(
      name,
      { id: name, or: [{ lock: null }, { due_at: { lte: this.getLockExpiryBound() } }] },
      { set: { data } },
    );
  }

  private async lockFirst(name: string, free: Filter, more: Update): Promise<JobParameters | undefined> {
    const token = this.parts.ids.uuid();
    const lease = this.rows.dueIn(this.parts.leaseMs(name) ?? 0);
    const set = { lock: token, owner: LOCK_OWNER, ...lease, last_run_at: this.parts.clock.iso(), ...more.set };
    const acquired = await this.jobs.change(free, { ...more, set }, { sort: [['due_at', 'asc']] });
    if (!acquired) return undefined;
    this.addHeldLock({ id: acquired.doc.id, token });
    return toParameters(acquired.doc, token);
  }

  /**
   * Agenda saves a job twice: locked at its start, unlocked at its end.
   * @throws Error when the lock was lost
   */
  async saveJobState(job: JobParameters): Promise<void> {
    const id = String(job._id);
    const lock = { id, token: (job.data as JobPayload).token };
    const begins = Boolean(job.lockedAt);
    // A slow store would otherwise make it log the run as canceled and release its slot early.
    job.lockedAt = FAR_FUTURE;
    try {
      const isStored = begins ? await this.begin(lock, job) : await this.finish(lock, job);
      if (!isStored) throw new Error(`the lock of job ${job.name} was lost to another process`);
      if (!begins) this.removeHeldLock(lock);
    } catch (error) {
      if (begins) {
        // The run has not started, so another process need not wait for the lock to expire.
        await this.releaseLocks([lock]);
      } else {
        this.removeHeldLock(lock);
        // Agenda swallows this error; the lock then expires and the job runs again.
        this.parts.log.error({ err: error, job: job.name }, 'the result of a job could not be stored');
      }
      throw error;
    }
  }

  private async begin(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { clock, leaseMs } = this.parts;
    const held = this.held.get(lock.token);
    const age = clock.monotonic() - (held?.since ?? -Infinity);
    if (held) Object.assign(held, { since: clock.monotonic(), started_at: clock.iso() });
    if (age <= FRESH_LOCK_MS) return true;
    const set = { ...this.rows.dueIn(leaseMs(job.name) ?? 0), last_run_at: held?.started_at ?? null };
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set })) !== null;
  }

  /**
   * Renews the lock of a run.
   * @returns false when it was lost or released
   */
  async renew(lock: LockKey): Promise<boolean> {
    const set = this.rows.dueIn(this.parts.lockMs);
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set })) !== null;
  }

  private async finish(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { id, token } = lock;
    if ((job.data as JobPayload).interrupted) return this.rows.unlockForRun(id, token, this.rows.dueIn(0));
    const held = this.held.get(token);
    const outcome = {
      last_run_at: held?.started_at ?? null,
      last_finished_at: this.parts.clock.iso(),
      fail_count: job.failCount ?? 0,
      fail_reason: (job.failCount ?? 0) > 0 ? redactText(job.failReason ?? '').slice(0, 500) : null,
    };
    const next = this.getNextDueTime(job, held);
    if (id === job.name) return this.finishNamed(lock, outcome, next);
    if (next !== null) return this.rows.unlockForRun(id, token, next, outcome);
    const [removed] = await this.jobs.bulk([
      { remove: { id, lock: token } },
      { change: { id: job.name }, update: { set: { name: job.name, ...outcome } }, upsert: true },
    ]);
    return removed !== undefined && 'n' in removed && removed.n === 1;
  }

  private async finishNamed({ id, token }: LockKey, outcome: NonNullable<Update['set']>, next: DueTime | null) {
    const unset = ['lock', 'owner', 'data', ...(next === null ? ['due_at', 'ahead_ms'] : [])];
    const changed = await this.jobs.change({ id, lock: token }, { set: { ...outcome, ...next }, unset });
    const wanted = changed?.doc.wanted_at;
    if (wanted !== undefined) await this.rows.bringForward(id, this.rows.dueAt(Date.parse(wanted)));
    return changed !== null;
  }

  /** An interval counts from the start of the run. */
  private getNextDueTime(
    { repeatInterval: repeat, nextRunAt }: JobParameters,
    held: HeldLock | undefined,
  ): DueTime | null {
    const now = this.parts.clock.monotonic();
    if (typeof repeat === 'number') return this.rows.dueIn(Math.max(0, repeat - (now - (held?.since ?? now))));
    if (repeat !== undefined) return this.rows.dueAtCron(repeat);
    // A retry: Agenda has just added its delay to the wall clock.
    return nextRunAt && nextRunAt > ALWAYS_DUE ? this.rows.dueIn(nextRunAt.getTime() - Date.now()) : null;
  }

  private async releaseLocks(locks: readonly LockKey[]): Promise<void> {
    for (const lock of locks) {
      if (!this.held.has(lock.token)) continue;
      try {
        await this.rows.unlockForRun(lock.id, lock.token, this.rows.dueIn(0));
      } catch (error) {
        this.parts.log.error(
          { err: error, job: lock.id },
          'a job could not be released and waits for its lock to expire',
        );
      } finally {
        this.removeHeldLock(lock);
      }
    }
  }

  async releaseUnstarted(): Promise<void> {
    await this.releaseLocks([...this.held.values()].filter(({ started_at }) => started_at === null));
  }

  async unlockJob(job: JobParameters): Promise<void> {
    await this.releaseLocks([{ id: String(job._id), token: (job.data as JobPayload).token }]);
  }

  async unlockJobs(ids: readonly string[]): Promise<void> {
    await this.releaseLocks([...this.held.values()].filter(({ id }) => ids.includes(id)));
  }
}

function toParameters({ id, name, repeat, data, retry, fail_count }: JobDoc, token: string): JobParameters<JobPayload> {
  return {
    _id: toJobId(id),
    name,
    priority: 0,
    type: repeat === undefined ? 'normal' : 'single',
    nextRunAt: ALWAYS_DUE,
    lockedAt: FAR_FUTURE,
    data: { data: data ?? null, retry: retry ?? 0, token },
    ...(repeat === undefined ? {} : { repeatInterval: repeat, repeatTimezone: 'UTC' }),
    ...(fail_count === undefined ? {} : { failCount: fail_count }),
  };
}
