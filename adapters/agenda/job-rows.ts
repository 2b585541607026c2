/** The stored jobs that wait: how one is added, moved and looked at. Locks are repository.ts's. */
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import { StoreConflict, type Collection, type Json, type Update } from '../../ports/store.js';
import type { Due, DueTimes } from './due-times.js';
import type { JobDoc } from './job-document.js';

/** So many due jobs are looked at to learn which names have any; with more, every name is tried. */
const GLANCE = 200;

export class JobRows {
  constructor(
    private readonly jobs: Collection<JobDoc>,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly times: DueTimes,
  ) {}

  /** Stores one job to run at `due`. With a key: at most one that waits, at the earlier of both times. */
  async add(name: string, data: Json, due: Due, key: string | undefined, retry: number): Promise<void> {
    const wanted = key === undefined ? {} : { key: `${name}:${key}`, wanted_key: `${name}:${key}` };
    const waiting = { ...due, next_run_at: due.due_at };
    for (;;) {
      try {
        await this.jobs.insert({ id: this.ids.uuid(), name, data, retry, ...waiting, fail_count: 0, ...wanted });
        return;
      } catch (error) {
        if (!(error instanceof StoreConflict) || error.index !== 'key') throw error;
        // None matches when the waiting one has just begun: it may have missed what this call is about, so insert
        // again.
        if (await this.jobs.change({ key: `${name}:${key ?? ''}` }, { min: waiting })) return;
      }
    }
  }

  /** The documents of repeating jobs, by their names. */
  async named(names: readonly string[]): Promise<ReadonlyMap<string, JobDoc>> {
    const { items } = await this.jobs.find({ filter: { id: { in: names } }, limit: 1000 });
    return new Map(items.map((doc) => [doc.id, doc]));
  }

  /**
   * A repeating job, stored at the first start of any process, and moved when its interval became shorter.
   * @param stored as it was just read: most starts find every job in its place, and write nothing
   */
  async schedule(name: string, repeat: number | string, first: Due, latest: Due, stored?: JobDoc): Promise<void> {
    const waiting = { ...first, next_run_at: first.due_at };
    const job = stored?.repeat === repeat ? stored : await this.#repeating(name, repeat, waiting);
    if (job === undefined || (job.lock ?? null) !== null) return;
    const due = job.due_at ?? null;
    if (due === null) await this.jobs.change({ id: name, lock: null, due_at: null }, { set: waiting });
    else if (due > latest.due_at) {
      const moved = { ...latest, next_run_at: latest.due_at };
      await this.jobs.change({ id: name, lock: null, due_at: { gt: latest.due_at } }, { set: moved });
    }
  }

  async #repeating(name: string, repeat: number | string, waiting: Due): Promise<JobDoc | undefined> {
    const update: Update = { set: { name, repeat }, setOnInsert: { ...waiting, fail_count: 0 } };
    return (await this.jobs.change({ id: name }, update, { upsert: true }))?.doc;
  }

  /** Lets a repeating job run at `due` instead of later; one under way runs again afterwards. */
  async bringForward(name: string, due: Due): Promise<void> {
    const min = { ...due, next_run_at: due.due_at };
    if (await this.jobs.change({ id: name, lock: null }, { min, unset: ['wanted_at'] })) return;
    await this.jobs.change({ id: name }, { min: { wanted_at: due.due_at } });
  }

  /** Unlocks a job that shall run (again) at `due`. One with a key gives way to another that waits under it. */
  async toWaiting(id: string, token: string, due: Due, outcome: NonNullable<Update['set']> = {}): Promise<boolean> {
    const doc = await this.jobs.get(id);
    const key = doc?.wanted_key;
    const set = { ...outcome, ...due, next_run_at: due.due_at, ...(key === undefined ? {} : { key }) };
    try {
      return (await this.jobs.change({ id, lock: token }, { set, unset: ['lock', 'owner'] })) !== null;
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
      return (await this.jobs.remove({ id, lock: token })) === 1;
    }
  }

  /** What is due first of each of these names that has something due; null when there is too much to list. */
  async dueDocs(names: readonly string[]): Promise<ReadonlyMap<string, JobDoc> | null> {
    const filter = { due_at: { lte: this.times.now() }, name: { in: names } };
    const page = await this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: GLANCE });
    return page.next === null ? new Map(page.items.toReversed().map((doc) => [doc.name, doc])) : null;
  }

  /** Seconds since the first job that waits was due; 0: none waits. Locked ones have been taken. */
  async queueAge(): Promise<number> {
    const filter = { due_at: { lte: this.times.now() }, lock: null };
    const page = await this.jobs.find({ filter, sort: [['due_at', 'asc']], limit: 1 });
    const due = page.items[0]?.due_at;
    return due === undefined ? 0 : (this.clock.now() - Date.parse(due)) / 1000;
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
}
