/**
 * Agenda's storage over the DocumentStore, so that jobs run on every engine. Every change of a locked job names the
 * lock's token: a process that lost its lock (it was too slow, or stopped by a debugger) can neither start nor finish
 * a job that another process has taken over.
 *
 * Times are this machine's; a lock outlives its job's time limit by a margin that also covers clocks that differ a
 * little. Agenda's own watch over `lockedAt` is switched off (`FAR`): the limit is kept in jobs.ts, by the job's own.
 */
import { hostname } from 'node:os';
import type { JobParameters, JobRepository } from 'agenda';
import { toJobId } from 'agenda';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import { StoreConflict, type Collection, type DocumentStore, type Json, type Update } from '../../ports/store.js';
import type { FaultLines } from './fault-lines.js';
import { JOBS_COLLECTION, type JobDoc, type Payload } from './job-document.js';

const FAR = new Date('9999-12-31T00:00:00.000Z');
const OWNER = `${hostname()}:${process.pid}`;
/** So many due jobs are looked at to learn which names have any; with more, every name is tried. */
const GLANCE = 200;

interface Held {
  id: string;
  started: boolean;
}

const unused = (method: string): never => {
  throw new Error(`${method} is not used: ports/jobs.ts asks by Jobs.list`);
};

export class StoreJobRepository implements JobRepository {
  /** Locks of this process, by their tokens: a job that is given back may be taken again before that is acknowledged. */
  readonly held = new Map<string, Held>();
  /** Set when no job may be taken any more. */
  stopping = false;
  private readonly jobs: Collection<JobDoc>;
  private glance: Promise<ReadonlySet<string> | null> | null = null;
  private readonly idle: (() => void)[] = [];

  /** @param leaseMs how long a job of this name may be locked; undefined for names that this process does not run */
  constructor(
    store: DocumentStore,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly faults: FaultLines,
    private readonly leaseMs: (name: string) => number | undefined,
    private readonly names: () => string[],
  ) {
    this.jobs = store.collection<JobDoc>(JOBS_COLLECTION.name);
  }

  private at(offsetMs = 0): string {
    return new Date(this.clock.now() + offsetMs).toISOString();
  }

  /** Resolves when this process holds no lock. */
  async whenIdle(): Promise<void> {
    if (this.held.size > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }

  private drop(token: string): void {
    this.held.delete(token);
    if (this.held.size === 0) for (const resolve of this.idle.splice(0)) resolve();
  }

  async connect(): Promise<void> {}

  /** Which of our names have something due; null when there are too many to list. */
  private async dueNames(): Promise<ReadonlySet<string> | null> {
    const filter = { due_at: { lte: this.at() }, name: { in: this.names() } };
    const page = await this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: GLANCE });
    return page.next === null ? new Set(page.items.map(({ name }) => name)) : null;
  }

  /** Seconds since the first job that waits was due; 0: none waits. Locked ones have been taken. */
  async queueAge(): Promise<number> {
    const filter = { due_at: { lte: this.at() }, lock: null };
    const page = await this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: 1 });
    const due = page.items[0]?.due_at;
    return due === undefined ? 0 : (this.clock.now() - Date.parse(due)) / 1000;
  }

  /** Polls go on for ever: the first to be answered again says that the store is back. */
  private async watched<T>(poll: Promise<T>): Promise<T> {
    try {
      const found = await poll;
      this.faults.answered();
      return found;
    } catch (error) {
      this.faults.away();
      throw error;
    }
  }

  /** One question to the store for all names that are asked in the same turn of the event loop. */
  private glanceOnce(): Promise<ReadonlySet<string> | null> {
    if (this.glance === null) {
      this.glance = this.watched(this.dueNames());
      queueMicrotask(() => (this.glance = null));
    }
    return this.glance;
  }

  async getNextJobToRun(name: string): Promise<JobParameters | undefined> {
    const lease = this.leaseMs(name);
    if (this.stopping || lease === undefined) return undefined;
    const due = await this.glanceOnce();
    if (due !== null && !due.has(name)) return undefined;
    const token = this.ids.uuid();
    const taken = await this.jobs.change(
      { name, due_at: { lte: this.at() } },
      { set: { lock: token, owner: OWNER, due_at: this.at(lease) }, unset: ['key'] },
      { sort: [['due_at', 'asc']] },
    );
    if (!taken) return undefined;
    this.held.set(token, { id: taken.doc.id, started: false });
    if (this.stopping) {
      await this.giveBack([token]);
      return undefined;
    }
    return this.parameters(taken.doc, token);
  }

  /** Locks the document named like the job, for `runNow`; undefined when another process holds it. */
  async lockNamed(name: string, repeat: number | string | undefined, data: Json): Promise<JobParameters | undefined> {
    const lease = this.leaseMs(name) ?? 0;
    const setOnInsert = { name, fail_count: 0, ...(repeat === undefined ? {} : { repeat }) };
    await this.jobs.change({ id: name }, { setOnInsert }, { upsert: true });
    const token = this.ids.uuid();
    const taken = await this.jobs.change(
      { id: name, or: [{ lock: null }, { due_at: { lte: this.at() } }] },
      { set: { lock: token, owner: OWNER, due_at: this.at(lease), data } },
    );
    if (!taken) return undefined;
    this.held.set(token, { id: name, started: false });
    return this.parameters(taken.doc, token);
  }

  private parameters(doc: JobDoc, token: string): JobParameters<Payload> {
    return {
      _id: toJobId(doc.id),
      name: doc.name,
      priority: 0,
      type: doc.repeat === undefined ? 'normal' : 'single',
      // Due by our own judgement; a later time would make Agenda put it back.
      nextRunAt: new Date(this.clock.now()),
      lockedAt: FAR,
      data: { data: doc.data ?? null, retry: doc.retry ?? 0, token },
      ...(doc.repeat === undefined ? {} : { repeatInterval: doc.repeat, repeatTimezone: 'UTC' }),
      ...(doc.fail_count === undefined ? {} : { failCount: doc.fail_count }),
    };
  }

  /** Agenda saves a job twice: locked when it begins, unlocked when it is over. @throws Error when the lock was lost */
  async saveJobState(job: JobParameters): Promise<void> {
    const id = String(job._id);
    const { token } = job.data as Payload;
    const begins = Boolean(job.lockedAt);
    // Agenda takes the time from its own record to watch the run, also while its end is being stored: without one a run
    // whose end takes long to store would be told as canceled, and its place given away before it is free.
    job.lockedAt = FAR;
    try {
      const kept = begins ? await this.begin(id, token, job) : await this.finish(id, token, job);
      if (!kept) throw new Error(`the lock of job ${job.name} was lost to another process`);
      if (!begins) this.drop(token);
    } catch (error) {
      if (begins) {
        // Nothing has begun: another process need not wait for the lock to end.
        await this.giveBack([token]);
      } else {
        this.drop(token);
        // Agenda drops what this throws at the end of a run; the lock then ends by itself and the job runs again.
        this.faults.tell('the end of a job could not be stored', error, { job: job.name });
      }
      throw error;
    }
  }

  private async begin(id: string, token: string, job: JobParameters): Promise<boolean> {
    const held = this.held.get(token);
    if (held) held.started = true;
    const due_at = this.at(this.leaseMs(job.name) ?? 0);
    const next_run_at = job.nextRunAt?.toISOString() ?? null;
    const set = { due_at, next_run_at, last_run_at: job.lastRunAt?.toISOString() ?? null };
    return (await this.jobs.change({ id, lock: token }, { set })) !== null;
  }

  private async finish(id: string, token: string, job: JobParameters): Promise<boolean> {
    if ((job.data as Payload).interrupted) return this.toWaiting(id, token, this.at());
    const failed = (job.failCount ?? 0) > 0;
    const outcome = {
      last_run_at: job.lastRunAt?.toISOString() ?? null,
      last_finished_at: job.lastFinishedAt?.toISOString() ?? null,
      fail_count: job.failCount ?? 0,
      fail_reason: failed ? (job.failReason ?? '').slice(0, 500) : null,
    };
    const next = job.nextRunAt?.toISOString() ?? null;
    if (id === job.name) return this.finishNamed(id, token, outcome, next);
    if (next !== null) return this.toWaiting(id, token, next, outcome);
    const [removed] = await this.jobs.bulk([
      { remove: { id, lock: token } },
      { change: { id: job.name }, update: { set: { name: job.name, ...outcome } }, upsert: true },
    ]);
    return removed !== undefined && 'n' in removed && removed.n === 1;
  }

  private async finishNamed(
    id: string,
    token: string,
    outcome: NonNullable<Update['set']>,
    next: string | null,
  ): Promise<boolean> {
    const changed = await this.jobs.change(
      { id, lock: token },
      {
        set: { ...outcome, next_run_at: next, ...(next === null ? {} : { due_at: next }) },
        unset: ['lock', 'owner', 'data', ...(next === null ? ['due_at'] : [])],
      },
    );
    const wanted = changed?.doc.wanted_at;
    if (wanted !== undefined) await this.bringForward(id, wanted);
    return changed !== null;
  }

  /** Unlocks a job that shall run (again) at `at`. One with a key gives way to another that waits under it. */
  private async toWaiting(
    id: string,
    token: string,
    at: string,
    outcome: NonNullable<Update['set']> = {},
  ): Promise<boolean> {
    const doc = await this.jobs.get(id);
    const key = doc?.wanted_key;
    const set = { ...outcome, due_at: at, next_run_at: at, ...(key === undefined ? {} : { key }) };
    try {
      return (await this.jobs.change({ id, lock: token }, { set, unset: ['lock', 'owner'] })) !== null;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      return (await this.jobs.remove({ id, lock: token })) === 1;
    }
  }

  /** Gives locks back in the background: a fault is logged, and the lock expires by itself. */
  private async giveBack(tokens: readonly string[]): Promise<void> {
    for (const token of tokens) {
      const held = this.held.get(token);
      if (!held) continue;
      try {
        await this.toWaiting(held.id, token, this.at());
      } catch (error) {
        this.faults.tell('a job could not be given back and waits for its lock to end', error);
      } finally {
        this.drop(token);
      }
    }
  }

  /** Gives back every lock under which nothing has begun. */
  async releaseUnstarted(): Promise<void> {
    await this.giveBack([...this.held].filter(([, { started }]) => !started).map(([token]) => token));
  }

  async unlockJob(job: JobParameters): Promise<void> {
    await this.giveBack([(job.data as Payload).token]);
  }

  async unlockJobs(ids: readonly string[]): Promise<void> {
    await this.giveBack([...this.held].filter(([, { id }]) => ids.includes(id)).map(([token]) => token));
  }

  /** Stores one job to run at `at`. With a key: at most one that waits, at the earlier of both times. */
  async add(name: string, data: Json, at: string, key: string | undefined, retry: number): Promise<void> {
    const wanted = key === undefined ? {} : { key: `${name}:${key}`, wanted_key: `${name}:${key}` };
    for (;;) {
      try {
        await this.jobs.insert({
          id: this.ids.uuid(),
          name,
          data,
          retry,
          next_run_at: at,
          due_at: at,
          fail_count: 0,
          ...wanted,
        });
        return;
      } catch (error) {
        if (!(error instanceof StoreConflict) || error.index !== 'key') throw error;
        const min = { due_at: at, next_run_at: at };
        // None matches when the waiting one has just begun: it may have missed what this call is about, so insert again.
        if (await this.jobs.change({ key: `${name}:${key ?? ''}` }, { min })) return;
      }
    }
  }

  /** A repeating job, stored at the first start of any process, and moved when its interval became shorter. */
  async schedule(name: string, repeat: number | string, first: string, latest: string): Promise<void> {
    const waiting = { due_at: first, next_run_at: first };
    await this.jobs.change(
      { id: name },
      { set: { name, repeat }, setOnInsert: { ...waiting, fail_count: 0 } },
      { upsert: true },
    );
    await this.jobs.change({ id: name, lock: null, due_at: null }, { set: waiting });
    const moved = { due_at: latest, next_run_at: latest };
    await this.jobs.change({ id: name, lock: null, due_at: { gt: latest } }, { set: moved });
  }

  /** Lets a repeating job run at `at` instead of later; one under way runs again afterwards. */
  async bringForward(name: string, at: string): Promise<void> {
    const min = { due_at: at, next_run_at: at };
    if (await this.jobs.change({ id: name, lock: null }, { min, unset: ['wanted_at'] })) return;
    await this.jobs.change({ id: name }, { min: { wanted_at: at } });
  }

  /** The documents named like these jobs, and every job of theirs that waits or runs. */
  async look(names: readonly string[]): Promise<JobDoc[]> {
    const [named, pending] = await Promise.all([
      this.jobs.find({ filter: { id: { in: names } }, limit: 1000 }),
      this.jobs.find({
        filter: { name: { in: names }, due_at: { exists: true } },
        sort: [['due_at', 'asc']],
        limit: 1000,
      }),
    ]);
    return [...new Map([...named.items, ...pending.items].map((doc) => [doc.id, doc])).values()];
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
