/**
 * The safe mark of delta queries (contract 00, lists): nothing that becomes visible later may carry an earlier
 * `updated_at`. Three things could: a write under way in this process (its stamp is registered until the store has
 * answered), a write under way in another process or one whose clock lags (the mark stays `delta_margin_seconds`
 * behind), and a write that took longer than half that margin (its item is touched again with a fresh stamp).
 *
 * Times that a clock showed twice are handled by `RepeatedTimes`.
 *
 * Rejected: stamps made by the store, which the port does not have, and sequence numbers, which would serialise
 * writers.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { RepeatedTimes } from '../../../lib/clock-skew.js';
import { isoOf } from '../../../lib/time.js';
import { DEPS, type BugDeps } from '../deps.js';

interface Open {
  /** The write's beginning, in milliseconds since 1970. */
  now: number;
  /** Its index in the list. */
  place: number;
}

@injectable()
export class DeltaWatermark {
  /** Writes under way, in any order. No map: each write would be a new entry of it. */
  readonly #open: Open[] = [];
  readonly #repeated: RepeatedTimes;

  constructor(@inject(DEPS) private readonly deps: BugDeps) {
    this.#repeated = new RepeatedTimes(deps.clock, deps.config.delta_margin_seconds * 1000);
  }

  /** Called before anything is written: the clock may have moved backwards since the last process. */
  async start(): Promise<void> {
    const { items } = await this.deps.items.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.start(items[0]?.updated_at);
  }

  /**
   * Runs one write of an item with its `updated_at`. Several attempts inside share the stamp.
   * @param itemId or a function that names it from the result; null: nothing was written
   */
  async write<T>(
    itemId: string | ((result: T) => string | null),
    run: (stamp: string, now: number) => Promise<T>,
  ): Promise<T> {
    // The clock may catch up before the next query.
    this.#repeated.check();
    const { clock, config, items } = this.deps;
    const now = clock.now();
    const began = clock.monotonic();
    const open = { now, place: this.#open.length };
    this.#open.push(open);
    try {
      const result = await run(isoOf(now), now);
      if (clock.monotonic() - began > (config.delta_margin_seconds * 1000) / 2) {
        const id = typeof itemId === 'string' ? itemId : itemId(result);
        if (id !== null) await items.change({ id }, { max: { updated_at: clock.iso() } });
      }
      return result;
    } finally {
      this.#close(open);
    }
  }

  /** Removes a write: the last one of the list takes its place. */
  #close({ place }: Open): void {
    const last = this.#open.pop();
    if (last === undefined || last.place === place) return;
    last.place = place;
    this.#open[place] = last;
  }

  /** A safe mark, RFC 3339: a client that asks for changes since this mark misses none. */
  safe(): string {
    this.#repeated.check();
    const { clock, config } = this.deps;
    let mark = clock.now() - config.delta_margin_seconds * 1000;
    for (const { now } of this.#open) mark = Math.min(mark, now);
    return isoOf(mark);
  }

  /** Returns where a query with this mark starts, also after the clock moved backwards. RFC 3339. */
  since(mark: string): string {
    return this.#repeated.since(mark);
  }
}
