import { DueTimeTracker } from '../../lib/clock-skew.js';
import { toIsoString, MINUTE_MS } from '../../lib/time.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import { StoreConflict, type Collection, type Json, type Update } from '../../ports/store/index.js';
import type { JobDoc } from './job-document.js';

/** A stored due time. A type alias, because it becomes part of an update. */
export type DueTime = { due_at: string; ahead_ms: number };

export class JobStore {
  readonly #times: DueTimeTracker;

  /** @param nextTime RFC 3339 */
  constructor(
    private readonly jobs: Collection<JobDoc>,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly nextTime: (cron: string) => string,
  ) {
    // Tolerates wrong clocks on other machines.
    this.#times = new DueTimeTracker(clock, MINUTE_MS);
  }

  dueIn(ms: number): DueTime {
    return this.dueAt(this.clock.now() + ms);
  }

  /** @param time milliseconds since the epoch; a past time is due immediately */
  dueAt(time: number): DueTime {
    return { due_at: this.#times.scheduleAt(time), ahead_ms: this.#getAheadMs(time) };
  }

  dueAtCron(cron: string): DueTime {
    const due_at = this.nextTime(cron);
    return { due_at, ahead_ms: this.#getAheadMs(Date.parse(due_at)) };
  }

  #getAheadMs(time: number): number {
    return Math.max(0, Math.round(time - this.clock.now()));
  }

  /** With a key, at most one waits, at the earlier of both times. */
  async add(name: string, data: Json, due: DueTime, key: string | undefined, retry: number): Promise<void> {
    const keys = key === undefined ? {} : { key: `${name}:${key}`, wanted_key: `${name}:${key}` };
    for (;;) {
      try {
        await this.jobs.insert({ id: this.ids.uuid(), name, data, retry, ...due, fail_count: 0, ...keys });
        return;
      } catch (error) {
        if (!(error instanceof StoreConflict) || error.index !== 'key') throw error;
        // The waiting job has just started and may have missed this change, so insert again.
        if (await this.jobs.change({ key: `${name}:${key ?? ''}` }, { min: due })) return;
      }
    }
  }

  async findByNames(names: readonly string[]): Promise<ReadonlyMap<string, JobDoc>> {
    const { items } = await this.jobs.find({ filter: { id: { in: names } }, limit: 1000 });
    return new Map(items.map((doc) => [doc.id, doc]));
  }

  /**
   * Creates a repeating job, or reschedules it when its interval became shorter.
   * @param stored the current document, which saves a write on most starts
   */
  async schedule(
    name: string,
    repeat: number | string,
    stored?: JobDoc,
    first = typeof repeat === 'number' ? this.dueIn(0) : this.dueAtCron(repeat),
  ): Promise<void> {
    const latest = typeof repeat === 'number' ? this.dueIn(repeat) : first;
    const update: Update = { set: { name, repeat }, setOnInsert: { ...first, fail_count: 0 } };
    const isCurrent = stored?.repeat === repeat;
    const job = isCurrent ? stored : (await this.jobs.change({ id: name }, update, { upsert: true }))?.doc;
    if (job === undefined || (job.lock ?? null) !== null) return;
    const due = job.due_at ?? null;
    if (due === null) await this.jobs.change({ id: name, lock: null, due_at: null }, { set: first });
    else if (due > latest.due_at)
      await this.jobs.change({ id: name, lock: null, due_at: { gt: latest.due_at } }, { set: latest });
  }

  /** Runs a repeating job at `due` at the latest; a running one runs again afterwards. */
  async bringForward(name: string, due: DueTime): Promise<void> {
    if (await this.jobs.change({ id: name, lock: null }, { min: due, unset: ['wanted_at'] })) return;
    await this.jobs.change({ id: name }, { min: { wanted_at: due.due_at } });
  }

  /**
   * Unlocks a job that must run again at `due`. A job with a key is dropped if another one waits
   * under it.
   */
  async unlockForRun(
    id: string,
    token: string,
    due: DueTime,
    outcome: NonNullable<Update['set']> = {},
  ): Promise<boolean> {
    const key = (await this.jobs.get(id))?.wanted_key;
    const set = { ...outcome, ...due, ...(key === undefined ? {} : { key }) };
    try {
      return (await this.jobs.change({ id, lock: token }, { set, unset: ['lock', 'owner'] })) !== null;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      return (await this.jobs.remove({ id, lock: token })) === 1;
    }
  }

  async findDueNames(names: readonly string[]): Promise<ReadonlySet<string>> {
    await this.#times.reanchorIfNeeded(() =>
      this.#times.reanchor(this.jobs, {
        field: 'due_at',
        sort: [['due_at', 'asc']],
        longest: (job) => (isWaitingForCron(job) ? this.dueAtCron(job.repeat).ahead_ms : (job.ahead_ms ?? Infinity)),
        fields: (job, time) => (isWaitingForCron(job) ? this.dueAtCron(job.repeat) : this.dueAt(time)),
      }),
    );
    const filter = { due_at: { lte: toIsoString(this.clock.now()) }, name: { in: names } };
    return new Set((await this.jobs.groupCount('name', filter)).map(({ key }) => String(key)));
  }

  async getQueueAgeSeconds(): Promise<number> {
    const filter = { due_at: { lte: toIsoString(this.clock.now()) }, lock: null };
    const page = await this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: 1 });
    const due = page.items[0]?.due_at;
    return due === undefined ? 0 : (this.clock.now() - Date.parse(due)) / 1000;
  }

  async list(names: readonly string[]): Promise<JobDoc[]> {
    const filter = { name: { in: names }, due_at: { exists: true } };
    const [named, pending] = await Promise.all([
      this.jobs.find({ filter: { id: { in: names } }, limit: 1000 }),
      this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: 1000 }),
    ]);
    return [...new Map([...named.items, ...pending.items].map((doc) => [doc.id, doc])).values()];
  }
}

const isWaitingForCron = (job: JobDoc): job is JobDoc & { repeat: string } =>
  job.lock === undefined && typeof job.repeat === 'string';
