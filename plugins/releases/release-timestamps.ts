import { inject, injectable, type Clock, type Collection } from '../../kernel/contract/index.js';
import { RepeatedTimeRange } from '../../lib/clock-skew.js';
import { toIsoString, MINUTE_MS } from '../../lib/time.js';
import { DEPS } from './deps.js';
import type { ReleaseDoc } from './model.js';

const VISIBILITY_MARGIN_MS = MINUTE_MS;

@injectable()
export class ReleaseTimestamps {
  readonly #repeated: RepeatedTimeRange;

  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
  ) {
    this.#repeated = new RepeatedTimeRange(clock, VISIBILITY_MARGIN_MS);
  }

  async start(): Promise<void> {
    const { items } = await this.releases.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.detectEarlierStep(items[0]?.updated_at);
  }

  /** @param before the previous timestamp; RFC 3339 */
  createTimestamp(before?: string): string {
    this.#repeated.check();
    const now = this.clock.now();
    return toIsoString(before === undefined ? now : Math.max(now, Date.parse(before) + 1));
  }

  /** Returns RFC 3339; a client misses no change after it. */
  getSafeCursor(): string {
    return toIsoString(this.clock.now() - VISIBILITY_MARGIN_MS);
  }

  /** Returns RFC 3339, also after the clock moved backwards. */
  resolveCursor(mark: string): string {
    return this.#repeated.getQueryStart(mark);
  }
}
