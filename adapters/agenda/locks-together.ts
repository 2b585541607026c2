/**
 * Locks of repeating jobs that are due at the same look: they are taken by one write for each time limit and not by one
 * for each job, and those that end well soon after one another are unlocked by one write for each interval. Each job
 * keeps its own lock: another process may have any of them, and a run that lasts holds up no other.
 */
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Collection, Filter } from '../../ports/store.js';
import type { DueTimes } from './due-times.js';
import type { Held, HeldLocks } from './held-locks.js';
import type { JobDoc } from './job-document.js';

/** A run that is over waits at most so long for those that began with it. */
const GATHER_MS = 250;
/** Runs whose beginnings lie further apart than this are not due again together. */
const APART_MS = 50;

interface Asked {
  id: string;
  leaseMs: number;
  resolve: (token: string | null) => void;
  reject: (error: unknown) => void;
}

interface Ended {
  lock: Held;
  alone: () => Promise<boolean>;
  resolve: (kept: boolean) => void;
  reject: (error: unknown) => void;
}

/** Ends that wait for others of the same token and interval. */
interface Round {
  everyMs: number;
  ended: Ended[];
  timer: NodeJS.Timeout;
}

export interface LocksTogetherParts {
  jobs: Collection<JobDoc>;
  clock: Clock;
  ids: Ids;
  times: DueTimes;
  held: HeldLocks;
  owner: string;
  /** Due, and under no lock that lasts. */
  free(): Filter;
}

export class LocksTogether {
  #asked: Asked[] = [];
  readonly #rounds = new Map<string, Round>();

  constructor(private readonly parts: LocksTogetherParts) {}

  /** Locks the repeating job of this id with all that are asked for in this turn; null: it is not free. */
  take(id: string, leaseMs: number): Promise<string | null> {
    return new Promise((resolve, reject) => {
      this.#asked.push({ id, leaseMs, resolve, reject });
      if (this.#asked.length === 1) setImmediate(() => this.#takeAll());
    });
  }

  #takeAll(): void {
    const asked = this.#asked;
    this.#asked = [];
    const token = this.parts.ids.uuid();
    for (const leaseMs of new Set(asked.map((one) => one.leaseMs)))
      void this.#takeThose(
        token,
        leaseMs,
        asked.filter((one) => one.leaseMs === leaseMs),
      );
  }

  async #takeThose(token: string, leaseMs: number, asked: readonly Asked[]): Promise<void> {
    try {
      const ids = asked.map(({ id }) => id);
      const taken = await this.#lock(token, leaseMs, [...new Set(ids)]);
      // Before anyone goes on: the first to end then knows the others.
      for (const id of taken) this.parts.held.take({ id, token });
      // A poll and a nudge may ask for one job at once: only one of them has it.
      for (const { id, resolve } of asked) resolve(taken.delete(id) ? token : null);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  async #lock(token: string, leaseMs: number, ids: readonly string[]): Promise<Set<string>> {
    const { jobs, owner, times } = this.parts;
    const set = { lock: token, owner, ...times.in(leaseMs), last_run_at: times.now() };
    const n = await jobs.changeMany({ id: { in: ids }, ...this.parts.free() }, { set });
    if (n === ids.length || n === 0) return new Set(n === 0 ? [] : ids);
    // Another process has some of them.
    const { items } = await jobs.find({ filter: { id: { in: ids }, lock: token }, limit: ids.length });
    return new Set(items.map(({ id }) => id));
  }

  /**
   * The end of a run that went well, of a job that repeats by an interval. False: the lock was lost.
   * @param alone stores this end by itself
   */
  end(lock: Held, everyMs: number, alone: () => Promise<boolean>): Promise<boolean> {
    const name = `${lock.token} ${everyMs}`;
    const { since } = this.#rounds.get(name)?.ended[0]?.lock ?? lock;
    // One that waited for its place is due again by itself.
    const key = Math.abs(lock.since - since) <= APART_MS ? name : `${name} ${lock.id}`;
    return new Promise((resolve, reject) => {
      const round = this.#rounds.get(key) ?? this.#begin(key, everyMs);
      round.ended.push({ lock, alone, resolve, reject });
      const waiting = new Set([...this.#rounds.values()].flatMap(({ ended }) => ended.map((one) => one.lock)));
      const under = this.parts.held.those((held) => held.token === lock.token && !waiting.has(held));
      if (under.length === 0) for (const one of this.#rounds.keys()) if (one.startsWith(lock.token)) this.#close(one);
    });
  }

  #begin(key: string, everyMs: number): Round {
    const round = { everyMs, ended: [], timer: setTimeout(() => this.#close(key), GATHER_MS) };
    this.#rounds.set(key, round);
    return round;
  }

  #close(key: string): void {
    const round = this.#rounds.get(key);
    if (round === undefined) return;
    clearTimeout(round.timer);
    this.#rounds.delete(key);
    void this.#store(round);
  }

  async #store({ everyMs, ended }: Round): Promise<void> {
    try {
      const kept = await this.#unlock(everyMs, ended);
      for (const { lock, resolve } of ended) resolve(kept.has(lock.id));
    } catch (error) {
      for (const { reject } of ended) reject(error);
    }
  }

  async #unlock(everyMs: number, ended: readonly Ended[]): Promise<ReadonlySet<string>> {
    const { jobs, clock, times } = this.parts;
    const locks = ended.map(({ lock }) => lock);
    const [first] = locks;
    const ids = locks.map(({ id }) => id);
    if (first === undefined) return new Set();
    const next = times.in(Math.max(0, everyMs - (clock.monotonic() - Math.min(...locks.map(({ since }) => since)))));
    const finished = times.now();
    const set = {
      last_run_at: first.began_at,
      last_finished_at: finished,
      fail_count: 0,
      fail_reason: null,
      next_run_at: next.due_at,
      ...next,
    };
    const mine = { id: { in: ids }, lock: first.token, wanted_at: null };
    const n = await jobs.changeMany(mine, { set, unset: ['lock', 'owner', 'data'] });
    if (n === ids.length) return new Set(ids);
    return this.#rest(ended, finished);
  }

  /** Of those that were not all unlocked: which were; one that was asked for again ends by itself. */
  async #rest(ended: readonly Ended[], finished: string): Promise<ReadonlySet<string>> {
    const { jobs } = this.parts;
    const { items } = await jobs.find({
      filter: { id: { in: ended.map(({ lock }) => lock.id) } },
      limit: ended.length,
    });
    const docs = new Map(items.map((doc) => [doc.id, doc]));
    const kept = await Promise.all(
      ended.map(async ({ lock, alone }) => {
        const doc = docs.get(lock.id);
        return doc?.lock === lock.token ? alone() : doc?.last_finished_at === finished;
      }),
    );
    return new Set(ended.flatMap(({ lock }, i) => (kept[i] === true ? lock.id : [])));
  }
}
