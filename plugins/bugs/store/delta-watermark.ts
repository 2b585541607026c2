/**
 * Safe mark of delta queries (contract 00, lists): nothing that becomes visible later may have an
 * earlier `updated_at`. A pending write of this process is registered until the store has
 * responded. For other processes and lagging clocks the mark stays `delta_margin_seconds` behind. A
 * write that took longer than half that margin gets a fresh timestamp. `RepeatedTimeRange` handles
 * times that a clock showed twice.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { RepeatedTimeRange } from '../../../lib/clock-skew.js';
import { toIsoString } from '../../../lib/time.js';
import { DEPS, type BugsConfig } from '../deps.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc } from '../item/model.js';
import type { Collection } from '../../../ports/store/index.js';

interface PendingWrite {
  now: number;
  place: number;
}

@injectable()
export class DeltaWatermark {
  /** A map would allocate an entry per write. */
  readonly #pending: PendingWrite[] = [];
  readonly #repeated: RepeatedTimeRange;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.config) private readonly config: BugsConfig,
  ) {
    this.#repeated = new RepeatedTimeRange(clock, config.delta_margin_seconds * 1000);
  }

  /** Call before the first write: the clock may have moved backwards. */
  async start(): Promise<void> {
    const { items } = await this.items.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.detectEarlierStep(items[0]?.updated_at);
  }

  /**
   * Retries inside share the timestamp.
   * @param itemId or a function of the result; null: nothing was written
   */
  async write<T>(
    itemId: string | ((result: T) => string | null),
    run: (stamp: string, now: number) => Promise<T>,
  ): Promise<T> {
    this.#repeated.check();
    const { clock, config, items } = this;
    const now = clock.now();
    const began = clock.monotonic();
    const open = { now, place: this.#pending.length };
    this.#pending.push(open);
    try {
      const result = await run(toIsoString(now), now);
      if (clock.monotonic() - began > (config.delta_margin_seconds * 1000) / 2) {
        const id = typeof itemId === 'string' ? itemId : itemId(result);
        if (id !== null) await items.change({ id }, { max: { updated_at: clock.iso() } });
      }
      return result;
    } finally {
      this.#close(open);
    }
  }

  #close({ place }: PendingWrite): void {
    const last = this.#pending.pop();
    if (last === undefined || last.place === place) return;
    last.place = place;
    this.#pending[place] = last;
  }

  /** Returns an RFC 3339 time; queries since then miss no change. */
  getSafeMark(): string {
    this.#repeated.check();
    const { clock, config } = this;
    let mark = clock.now() - config.delta_margin_seconds * 1000;
    for (const { now } of this.#pending) mark = Math.min(mark, now);
    return toIsoString(mark);
  }

  /** Returns an RFC 3339 time, even after the clock moved backwards. */
  getStart(mark: string): string {
    return this.#repeated.getQueryStart(mark);
  }
}
