/**
 * The safe mark of delta queries (contract 00, lists): nothing that becomes visible later may carry an earlier
 * `updated_at`. Three things could: a write under way in this process (its stamp is registered until the store has
 * answered), a write under way in another process or one whose clock lags (the mark stays `delta_margin_seconds` behind),
 * and a write that took longer than half that margin (its item is touched again with a fresh stamp).
 *
 * Rejected: stamps made by the store, which the port does not have, and sequence numbers, which would serialise writers.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { isoOf } from '../../../lib/time.js';
import { DEPS, type Deps } from '../deps.js';

@injectable()
export class DeltaWatermark {
  readonly #open = new Map<symbol, number>();

  constructor(@inject(DEPS) private readonly deps: Deps) {}

  /**
   * Runs one write of an item, giving it its `updated_at`. Several attempts inside share the stamp.
   * @param itemId or how to tell it from what was written; null: nothing was
   */
  async write<T>(
    itemId: string | ((result: T) => string | null),
    run: (stamp: string, now: number) => Promise<T>,
  ): Promise<T> {
    const { clock, config, items } = this.deps;
    const key = Symbol();
    const now = clock.now();
    const began = clock.monotonic();
    this.#open.set(key, now);
    try {
      const result = await run(isoOf(now), now);
      if (clock.monotonic() - began > (config.delta_margin_seconds * 1000) / 2) {
        const id = typeof itemId === 'string' ? itemId : itemId(result);
        if (id !== null) await items.change({ id }, { max: { updated_at: clock.iso() } });
      }
      return result;
    } finally {
      this.#open.delete(key);
    }
  }

  /** RFC 3339: a client that asks for changes since this mark misses none. */
  safe(): string {
    const { clock, config } = this.deps;
    let mark = clock.now() - config.delta_margin_seconds * 1000;
    for (const began of this.#open.values()) mark = Math.min(mark, began);
    return isoOf(mark);
  }
}
