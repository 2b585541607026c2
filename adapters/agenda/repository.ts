/**
 * Agenda's storage over the DocumentStore, so that jobs run on every engine. Every change of a
 * locked job checks the lock's token: a process that lost its lock, because it was slow or paused,
 * can neither start nor finish the job. Locks are short and renewed during the run; a short job's
 * lock outlives its time limit by a margin, which also covers clock differences. Agenda's own check
 * of `lockedAt` is disabled (`FAR_FUTURE`), because the time limit of each job is enforced
 * separately.
 */
import { hostname } from 'node:os';
import { toJobId, type JobParameters, type JobRepository } from 'agenda';
import { ClockSteps } from '../../lib/clock-skew.js';
import { redactText } from '../../lib/text/hidden-texts.js';
import type { RepeatedLines } from '../../lib/text/repeated-lines.js';
import { isoOf } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, DocumentStore, Filter, Json, Update } from '../../ports/store.js';
import { JOBS_COLLECTION, type JobDoc, type Payload } from './job-document.js';
import { JobRows, type Due } from './job-rows.js';

const OWNER = `${hostname()}:${process.pid}`;
const FAR = new Date('9999-12-31T00:00:00.000Z');
/** A taken job stays due, even if the clock changes before it starts. */
const DUE = new Date(0);
/** A run that starts this soon after its lock was stored does not renew it. */
const FRESH_MS = 250;

export interface LockKey {
  id: string;
  token: string;
}

interface HeldLock extends LockKey {
  /** When the run started, or else when the lock was taken, by the monotonic clock. */
  since: number;
  started_at: string | null;
}

export interface RepositoryParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  /** Repeated log lines, which end when the store answers again. */
  faults?: RepeatedLines;
  /**
   * Returns how long a lock of this name is stored; undefined for names that this process does not
   * run.
   */
  leaseMs: (name: string) => number | undefined;
  /** Lifetime of a renewed lock, and the maximum of any lock. */
  lockMs: number;
  names: () => string[];
  /** Returns when a cron expression fires next, RFC 3339. */
  next: (cron: string) => string;
}

type UsedRepository = Pick<JobRepository, 'connect' | 'getNextJobToRun' | 'saveJobState' | 'unlockJob' | 'unlockJobs'>;

export class StoreJobRepository implements UsedRepository {
  readonly rows: JobRows;
  /** Set when no further job may be taken. */
  stopping = false;
  private readonly jobs: Collection<JobDoc>;
  private readonly steps: ClockSteps;
  /**
   * Locks of this process by token, because a released job may be taken again before the release is
   * acknowledged.
   */
  private readonly held = new Map<string, HeldLock>();
  private readonly idle: (() => void)[] = [];
  private readonly polls = new Set<Promise<unknown>>();
  private dueNames: Promise<ReadonlySet<string>> | null = null;
  private unavailableSince: number | null = null;

  constructor(private readonly parts: RepositoryParts) {
    const { store, clock, ids, lockMs } = parts;
    this.jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    this.steps = new ClockSteps(clock, lockMs);
    this.rows = new JobRows(this.jobs, clock, ids, parts.next);
  }

  async connect(): Promise<void> {}

  get runningCount(): number {
    return this.held.size;
  }

  /** Resolves when this process holds no lock, and no poll from before `stopping` can take one. */
  async whenIdle(): Promise<void> {
    await Promise.allSettled(this.polls);
    if (this.held.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private hold({ id, token }: LockKey): void {
    this.held.set(token, { id, token, since: this.parts.clock.monotonic(), started_at: null });
  }

  private drop({ token }: LockKey): void {
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
        log.warn({ seconds, left_out: faults?.over() ?? 0 }, 'the store answers again');
      }
      return found;
    } catch (error) {
      this.unavailableSince ??= clock.monotonic();
      throw error;
    }
  }

  /** Uses one query for all names that Agenda polls in the same turn of the event loop. */
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
    const end = this.lockEnd();
    const free =
      end === now ? { due_at: { lte: now } } : { or: [{ lock: null, due_at: { lte: now } }, { due_at: { lte: end } }] };
    const job = await this.lock(name, { name, ...free }, { unset: ['key'] });
    if (job === undefined || !this.stopping) return job;
    await this.unlockJob(job);
    return undefined;
  }

  /**
   * Returns the time up to which locks have expired. After a forward clock step the previous clock
   * applies until the longest lock is over by the monotonic clock, so that locks do not expire
   * early.
   */
  private lockEnd(): string {
    this.steps.check();
    return isoOf(this.parts.clock.now() - Math.max(0, this.steps.recentMs));
  }

  /**
   * Locks the document named like the job, for `runNow`; undefined when another process holds it.
   */
  async lockNamed(name: string, repeat: number | string | undefined, data: Json): Promise<JobParameters | undefined> {
    const setOnInsert = { name, fail_count: 0, ...(repeat === undefined ? {} : { repeat }) };
    await this.jobs.change({ id: name }, { setOnInsert }, { upsert: true });
    return this.lock(name, { id: name, or: [{ lock: null }, { due_at: { lte: this.lockEnd() } }] }, { set: { data } });
  }

  private async lock(name: string, free: Filter, more: Update): Promise<JobParameters | undefined> {
    const token = this.parts.ids.uuid();
    const lease = this.rows.in(this.parts.leaseMs(name) ?? 0);
    const set = { lock: token, owner: OWNER, ...lease, last_run_at: this.parts.clock.iso(), ...more.set };
    const taken = await this.jobs.change(free, { ...more, set }, { sort: [['due_at', 'asc']] });
    if (!taken) return undefined;
    this.hold({ id: taken.doc.id, token });
    return toParameters(taken.doc, token);
  }

  /**
   * Agenda saves a job twice: locked at its start, unlocked at its end.
   * @throws Error when the lock was lost
   */
  async saveJobState(job: JobParameters): Promise<void> {
    const id = String(job._id);
    const lock = { id, token: (job.data as Payload).token };
    const begins = Boolean(job.lockedAt);
    // Agenda checks this time while the end of the run is being stored. A slow store would
    // otherwise make it log the run as canceled and release its slot early.
    job.lockedAt = FAR;
    try {
      const isStored = begins ? await this.begin(lock, job) : await this.finish(lock, job);
      if (!isStored) throw new Error(`the lock of job ${job.name} was lost to another process`);
      if (!begins) this.drop(lock);
    } catch (error) {
      if (begins) {
        // The run has not started, so another process need not wait for the lock to expire.
        await this.giveBack([lock]);
      } else {
        this.drop(lock);
        // Agenda swallows this error; the lock then expires and the job runs again.
        this.parts.log.error({ err: error, job: job.name }, 'the end of a job could not be stored');
      }
      throw error;
    }
  }

  private async begin(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { clock, leaseMs } = this.parts;
    const held = this.held.get(lock.token);
    const age = clock.monotonic() - (held?.since ?? -Infinity);
    if (held) Object.assign(held, { since: clock.monotonic(), started_at: clock.iso() });
    if (age <= FRESH_MS) return true;
    const set = { ...this.rows.in(leaseMs(job.name) ?? 0), last_run_at: held?.started_at ?? null };
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set })) !== null;
  }

  /**
   * Renews the lock of a run.
   * @returns false when it was lost or released
   */
  async renew(lock: LockKey): Promise<boolean> {
    const set = this.rows.in(this.parts.lockMs);
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set })) !== null;
  }

  private async finish(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { id, token } = lock;
    if ((job.data as Payload).interrupted) return this.rows.toWaiting(id, token, this.rows.in(0));
    const held = this.held.get(token);
    const outcome = {
      last_run_at: held?.started_at ?? null,
      last_finished_at: this.parts.clock.iso(),
      fail_count: job.failCount ?? 0,
      fail_reason: (job.failCount ?? 0) > 0 ? redactText(job.failReason ?? '').slice(0, 500) : null,
    };
    const next = this.next(job, held);
    if (id === job.name) return this.finishNamed(lock, outcome, next);
    if (next !== null) return this.rows.toWaiting(id, token, next, outcome);
    const [removed] = await this.jobs.bulk([
      { remove: { id, lock: token } },
      { change: { id: job.name }, update: { set: { name: job.name, ...outcome } }, upsert: true },
    ]);
    return removed !== undefined && 'n' in removed && removed.n === 1;
  }

  private async finishNamed({ id, token }: LockKey, outcome: NonNullable<Update['set']>, next: Due | null) {
    const unset = ['lock', 'owner', 'data', ...(next === null ? ['due_at', 'ahead_ms'] : [])];
    const changed = await this.jobs.change({ id, lock: token }, { set: { ...outcome, ...next }, unset });
    const wanted = changed?.doc.wanted_at;
    if (wanted !== undefined) await this.rows.bringForward(id, this.rows.at(Date.parse(wanted)));
    return changed !== null;
  }

  /** Returns when the job runs next, or null. An interval counts from the start of the run. */
  private next({ repeatInterval: repeat, nextRunAt }: JobParameters, held: HeldLock | undefined): Due | null {
    const now = this.parts.clock.monotonic();
    if (typeof repeat === 'number') return this.rows.in(Math.max(0, repeat - (now - (held?.since ?? now))));
    if (repeat !== undefined) return this.rows.atCron(repeat);
    // A retry: Agenda has just added its delay to the wall clock.
    return nextRunAt && nextRunAt > DUE ? this.rows.in(nextRunAt.getTime() - Date.now()) : null;
  }

  /** Releases locks in the background; on an error they expire by themselves. */
  private async giveBack(locks: readonly LockKey[]): Promise<void> {
    for (const lock of locks) {
      if (!this.held.has(lock.token)) continue;
      try {
        await this.rows.toWaiting(lock.id, lock.token, this.rows.in(0));
      } catch (error) {
        this.parts.log.error(
          { err: error, job: lock.id },
          'a job could not be given back and waits for its lock to end',
        );
      } finally {
        this.drop(lock);
      }
    }
  }

  async releaseUnstarted(): Promise<void> {
    await this.giveBack([...this.held.values()].filter(({ started_at }) => started_at === null));
  }

  async unlockJob(job: JobParameters): Promise<void> {
    await this.giveBack([{ id: String(job._id), token: (job.data as Payload).token }]);
  }

  async unlockJobs(ids: readonly string[]): Promise<void> {
    await this.giveBack([...this.held.values()].filter(({ id }) => ids.includes(id)));
  }
}

/** Returns a taken job as Agenda runs it. */
function toParameters({ id, name, repeat, data, retry, fail_count }: JobDoc, token: string): JobParameters<Payload> {
  return {
    _id: toJobId(id),
    name,
    priority: 0,
    type: repeat === undefined ? 'normal' : 'single',
    nextRunAt: DUE,
    lockedAt: FAR,
    data: { data: data ?? null, retry: retry ?? 0, token },
    ...(repeat === undefined ? {} : { repeatInterval: repeat, repeatTimezone: 'UTC' }),
    ...(fail_count === undefined ? {} : { failCount: fail_count }),
  };
}
