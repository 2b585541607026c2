/**
 * Agenda's storage over the DocumentStore, so that jobs run on every engine. Every change of a locked job names the
 * lock's token: a process that lost its lock (it was too slow, or stopped by a debugger) can neither start nor finish
 * a job that another process has taken over.
 *
 * Times are this machine's (due-times.ts). A lock is short and renewed while its run lasts (job-run.ts); that of
 * a short job outlives its time limit by a margin, which also covers clocks that differ a little. Agenda's own watch
 * over `lockedAt` is switched off (`FAR`): the limit is kept in job-run.ts, by the job's own.
 */
import { hostname } from 'node:os';
import type { JobParameters, JobRepository } from 'agenda';
import { redactText } from '../../lib/text/hidden-texts.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Collection, DocumentStore, Filter, Json, Update } from '../../ports/store.js';
import { Anchoring } from './anchoring.js';
import { DueTimes, type Due } from './due-times.js';
import type { FaultLines } from './fault-lines.js';
import { HeldLocks, type LockKey } from './held-locks.js';
import { JOBS_COLLECTION, type JobDoc, type Payload } from './job-document.js';
import { DUE, FAR, parameters } from './job-parameters.js';
import { JobRows } from './job-rows.js';

const OWNER = `${hostname()}:${process.pid}`;

const unused = (method: string): never => {
  throw new Error(`${method} is not used: ports/jobs.ts asks by Jobs.list`);
};

export interface RepositoryParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  faults: FaultLines;
  /** For how long a lock of this name is stored; undefined for names that this process does not run. */
  leaseMs(name: string): number | undefined;
  /** The same of a run that lasts. */
  lockMs: number;
  names(): string[];
  /** When a job with this cron expression runs next, RFC 3339. */
  next(cron: string): string;
  /** Up to this long after it was taken, a run begins under the lock that it has. */
  freshMs: number;
}

export class StoreJobRepository implements JobRepository {
  readonly held: HeldLocks;
  readonly times: DueTimes;
  readonly rows: JobRows;
  /** Set when no job may be taken any more. */
  stopping = false;
  private readonly jobs: Collection<JobDoc>;
  private readonly anchoring: Anchoring;
  private glance: Promise<ReadonlyMap<string, JobDoc> | null> | null = null;

  constructor(private readonly parts: RepositoryParts) {
    const { store, clock, ids } = parts;
    const leaseMs = (name: string): number | undefined => parts.leaseMs(name);
    this.jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
    this.held = new HeldLocks(clock);
    this.times = new DueTimes(clock, () => Math.max(0, ...parts.names().map((name) => leaseMs(name) ?? 0)));
    this.rows = new JobRows(this.jobs, clock, ids, this.times);
    this.anchoring = new Anchoring(this.jobs, clock, this.times, leaseMs, (cron) => parts.next(cron));
  }

  async connect(): Promise<void> {}

  /** Polls go on for ever: the first to be answered again says that the store is back. */
  private async watched<T>(poll: Promise<T>): Promise<T> {
    const { faults } = this.parts;
    try {
      const found = await poll;
      faults.answered();
      return found;
    } catch (error) {
      faults.away();
      throw error;
    }
  }

  private async due(): Promise<ReadonlyMap<string, JobDoc> | null> {
    await this.anchoring.look();
    return this.rows.dueDocs(this.parts.names());
  }

  /** One question to the store for all names that are asked in the same turn of the event loop. */
  private glanceOnce(): Promise<ReadonlyMap<string, JobDoc> | null> {
    if (this.glance === null) {
      this.glance = this.watched(this.due());
      queueMicrotask(() => (this.glance = null));
    }
    return this.glance;
  }

  async getNextJobToRun(name: string): Promise<JobParameters | undefined> {
    const lease = this.parts.leaseMs(name);
    if (this.stopping || lease === undefined) return undefined;
    const due = await this.glanceOnce();
    if (due !== null && !due.has(name)) return undefined;
    const token = this.parts.ids.uuid();
    const taken = await this.jobs.change(
      { name, ...this.free() },
      { set: { lock: token, owner: OWNER, ...this.times.in(lease), last_run_at: this.times.now() }, unset: ['key'] },
      { sort: [['due_at', 'asc']] },
    );
    if (!taken) return undefined;
    const lock = { id: taken.doc.id, token };
    this.held.take(lock);
    if (!this.stopping) return parameters(taken.doc, token);
    await this.giveBack([lock]);
    return undefined;
  }

  /** Due, and under no lock that lasts. */
  private free(): Filter {
    const now = this.times.now();
    const end = this.times.lockEnd();
    return end === now
      ? { due_at: { lte: now } }
      : { or: [{ lock: null, due_at: { lte: now } }, { due_at: { lte: end } }] };
  }

  /** Locks the document named like the job, for `runNow`; undefined when another process holds it. */
  async lockNamed(name: string, repeat: number | string | undefined, data: Json): Promise<JobParameters | undefined> {
    const lease = this.parts.leaseMs(name) ?? 0;
    const setOnInsert = { name, fail_count: 0, ...(repeat === undefined ? {} : { repeat }) };
    await this.jobs.change({ id: name }, { setOnInsert }, { upsert: true });
    const token = this.parts.ids.uuid();
    const taken = await this.jobs.change(
      { id: name, or: [{ lock: null }, { due_at: { lte: this.times.lockEnd() } }] },
      { set: { lock: token, owner: OWNER, ...this.times.in(lease), last_run_at: this.times.now(), data } },
    );
    if (!taken) return undefined;
    this.held.take({ id: name, token });
    return parameters(taken.doc, token);
  }

  /** Agenda saves a job twice: locked when it begins, unlocked when it is over. @throws Error when the lock was lost */
  async saveJobState(job: JobParameters): Promise<void> {
    const id = String(job._id);
    const lock = { id, token: (job.data as Payload).token };
    const begins = Boolean(job.lockedAt);
    // Agenda takes the time from its own record to watch the run, also while its end is being stored: without one a run
    // whose end takes long to store would be told as canceled, and its place given away before it is free.
    job.lockedAt = FAR;
    try {
      const kept = begins ? await this.begin(lock, job) : await this.finish(lock, job);
      if (!kept) throw new Error(`the lock of job ${job.name} was lost to another process`);
      if (!begins) this.held.drop(lock);
    } catch (error) {
      if (begins) {
        // Nothing has begun: another process need not wait for the lock to end.
        await this.giveBack([lock]);
      } else {
        this.held.drop(lock);
        // Agenda drops what this throws at the end of a run; the lock then ends by itself and the job runs again.
        this.parts.faults.tell('the end of a job could not be stored', error, { job: job.name });
      }
      throw error;
    }
  }

  private async begin(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { clock, freshMs } = this.parts;
    const takenAt = this.held.get(lock)?.since ?? -Infinity;
    this.held.begin(lock);
    // Nearly every run begins as it is taken: the lock was stored a moment ago, with the time of the run.
    if (clock.monotonic() - takenAt <= freshMs) return true;
    const set = {
      ...this.times.in(this.parts.leaseMs(job.name) ?? 0),
      next_run_at: this.next(lock, job)?.due_at ?? null,
      last_run_at: this.held.get(lock)?.began_at ?? null,
    };
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set })) !== null;
  }

  /** Makes the lock of a run that lasts longer. False: it was lost to another process, or given back. */
  async renew(lock: LockKey): Promise<boolean> {
    const lease = this.times.in(this.parts.lockMs);
    return (await this.jobs.change({ id: lock.id, lock: lock.token }, { set: lease })) !== null;
  }

  private async finish(lock: LockKey, job: JobParameters): Promise<boolean> {
    const { id, token } = lock;
    if ((job.data as Payload).interrupted) return this.rows.toWaiting(id, token, this.times.in(0));
    const failed = (job.failCount ?? 0) > 0;
    const held = this.held.get(lock);
    const outcome = {
      last_run_at: held?.began_at ?? null,
      last_finished_at: this.times.now(),
      fail_count: job.failCount ?? 0,
      fail_reason: failed ? redactText(job.failReason ?? '').slice(0, 500) : null,
    };
    const next = this.next(lock, job);
    if (id === job.name) return this.finishNamed(id, token, outcome, next);
    if (next !== null) return this.rows.toWaiting(id, token, next, outcome);
    const [removed] = await this.jobs.bulk([
      { remove: { id, lock: token } },
      { change: { id: job.name }, update: { set: { name: job.name, ...outcome } }, upsert: true },
    ]);
    return removed !== undefined && 'n' in removed && removed.n === 1;
  }

  /**
   * An interval runs from the beginning of the last run, whatever the time of day did meanwhile; null: it does not run
   * again.
   */
  private next(lock: LockKey, job: JobParameters): Due | null {
    const { clock } = this.parts;
    const repeat = job.repeatInterval;
    if (typeof repeat === 'number') {
      const passed = clock.monotonic() - (this.held.get(lock)?.since ?? clock.monotonic());
      return this.times.in(Math.max(0, repeat - passed));
    }
    if (repeat !== undefined) return this.times.at(Date.parse(this.parts.next(repeat)));
    // A retry: Agenda has just added its delay to the time of day.
    return job.nextRunAt && job.nextRunAt > DUE ? this.times.in(job.nextRunAt.getTime() - Date.now()) : null;
  }

  private async finishNamed(
    id: string,
    token: string,
    outcome: NonNullable<Update['set']>,
    next: Due | null,
  ): Promise<boolean> {
    const changed = await this.jobs.change(
      { id, lock: token },
      {
        set: { ...outcome, next_run_at: next?.due_at ?? null, ...next },
        unset: ['lock', 'owner', 'data', ...(next === null ? ['due_at', 'ahead_ms'] : [])],
      },
    );
    const wanted = changed?.doc.wanted_at;
    if (wanted !== undefined) await this.rows.bringForward(id, this.times.at(Date.parse(wanted)));
    return changed !== null;
  }

  /** Gives locks back in the background: a fault is logged, and the lock expires by itself. */
  private async giveBack(locks: readonly LockKey[]): Promise<void> {
    for (const lock of locks) {
      if (this.held.get(lock) === undefined) continue;
      try {
        await this.rows.toWaiting(lock.id, lock.token, this.times.in(0));
      } catch (error) {
        this.parts.faults.tell('a job could not be given back and waits for its lock to end', error);
      } finally {
        this.held.drop(lock);
      }
    }
  }

  /** Gives back every lock under which nothing has begun. */
  async releaseUnstarted(): Promise<void> {
    await this.giveBack(this.held.those(({ started }) => !started));
  }

  async unlockJob(job: JobParameters): Promise<void> {
    await this.giveBack([{ id: String(job._id), token: (job.data as Payload).token }]);
  }

  async unlockJobs(ids: readonly string[]): Promise<void> {
    await this.giveBack(this.held.those(({ id }) => ids.includes(id)));
  }

  // What Agenda's own interface offers beyond this: none of it is called by its processor.
  queryJobs = async (): Promise<never> => unused('queryJobs');
  getJobsOverview = async (): Promise<never> => unused('getJobsOverview');
  getDistinctJobNames = async (): Promise<never> => unused('getDistinctJobNames');
  getJobById = async (): Promise<never> => unused('getJobById');
  getQueueSize = async (): Promise<never> => unused('getQueueSize');
  removeJobs = async (): Promise<never> => unused('removeJobs');
  saveJob = async (): Promise<never> => unused('saveJob');
  lockJob = async (): Promise<never> => unused('lockJob');
  disableJobs = async (): Promise<never> => unused('disableJobs');
  enableJobs = async (): Promise<never> => unused('enableJobs');
  purgeAllJobs = async (): Promise<never> => unused('purgeAllJobs');
}
