/**
 * Numbers of new items, counted in the store. Calls that come while a write is under way share the next one: a storm of
 * new groups writes a project's counter once for several of them, and leaves no gap.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, type BugDeps } from '../deps.js';

interface Waiting {
  resolve: (n: number) => void;
  reject: (error: unknown) => void;
}

@injectable()
export class ItemNumbers {
  /** Projects with a write under way, each with the callers that wait for the next one. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'counters'>) {}

  /** The next number of the project. */
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

  async #take(project: string, callers: readonly Waiting[]): Promise<void> {
    try {
      const counter = await this.deps.counters.change(
        { id: project },
        { inc: { n: callers.length } },
        { upsert: true },
      );
      const last = counter?.doc.n ?? 0;
      for (const [i, { resolve }] of callers.entries()) resolve(last - callers.length + 1 + i);
    } catch (error) {
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
