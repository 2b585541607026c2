/**
 * Numbers of new items. This process counts on from the last number that it knows (`predicted`), and the counter is
 * written together with the item, without a write of its own before. If another process has counted meanwhile, the
 * counter refuses the write, and the store is asked for the next number (`next`).
 *
 * Calls that come while a write is under way share the next one: a storm of new groups writes a project's counter once
 * for several of them, and leaves no gap.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { Write } from '../store/commit.js';

/** Projects whose last number is known. */
const PROJECTS = 1_000;
/**
 * Time after a refusal, in milliseconds, in which the store is asked: two processes that both counted on would refuse
 * each other all the time.
 */
const SHARED_MS = 2_000;

interface Waiting {
  resolve: (n: number) => void;
  reject: (error: unknown) => void;
}

/** A predicted number, and the write that counts it together with its item. */
export interface PredictedNumber {
  n: number;
  counted: Write;
}

@injectable()
export class ItemNumbers {
  /** Projects with a write under way, each with the callers that wait for the next one. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** The last number of each project, as far as this process knows. */
  readonly #last = new BoundedMap<number>({ most: PROJECTS });
  /** Projects in which another process counts too. */
  readonly #shared = new BoundedMap<true>({ most: PROJECTS, ttlMs: SHARED_MS });

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'counters'>) {}

  /** The next number of the project, counted in the store. */
  next(project: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(project);
      if (waiting !== undefined) waiting.push({ resolve, reject });
      else {
        this.#waiting.set(project, []);
        void this.#take(project, [{ resolve, reject }]);
      }
    });
  }

  /**
   * The predicted next number, as long as no other process counts; null when the last number is unknown. The caller
   * sends the write in the same turn, so the writes of several numbers reach the store in their order, and calls
   * `unsure` when the store refuses it.
   */
  predicted(project: string): PredictedNumber | null {
    const last = this.#last.get(project);
    if (last === undefined || this.#shared.get(project) === true) return null;
    const n = last + 1;
    this.#last.set(project, n);
    return {
      n,
      counted: { collection: 'counters', change: { id: project, n: { lt: n } }, update: { set: { n } } },
    };
  }

  /** Notes that another process may have counted on from the last number known here. */
  unsure(project: string): void {
    this.#last.delete(project);
    this.#shared.set(project, true);
  }

  async #take(project: string, callers: readonly Waiting[]): Promise<void> {
    // This write reaches the store before any number that is predicted from here on.
    const before = this.#last.get(project);
    if (before !== undefined) this.#last.set(project, before + callers.length);
    try {
      const counter = await this.deps.counters.change(
        { id: project },
        { inc: { n: callers.length } },
        { upsert: true },
      );
      const last = counter?.doc.n ?? 0;
      this.#last.set(project, Math.max(last, this.#last.get(project) ?? 0));
      for (const [i, { resolve }] of callers.entries()) resolve(last - callers.length + 1 + i);
    } catch (error) {
      // Nobody knows whether the store counted: a prediction might leave a gap.
      this.#last.delete(project);
      for (const { reject } of callers) reject(error);
    }
    const next = this.#waiting.get(project) ?? [];
    if (next.length === 0) this.#waiting.delete(project);
    else {
      this.#waiting.set(project, []);
      void this.#take(project, next);
    }
  }
}
