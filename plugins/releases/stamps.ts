/** Timestamps of changes for delta queries (contract 00, lists). */
import { inject, injectable } from '../../kernel/contract.js';
import { RepeatedTimes } from '../../lib/clock-skew.js';
import { isoOf, MINUTE_MS } from '../../lib/time.js';
import { DEPS, type ReleaseDeps } from './deps.js';

const MARGIN_MS = MINUTE_MS;

@injectable()
export class ReleaseStamps {
  readonly #repeated: RepeatedTimes;

  constructor(@inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'clock' | 'releases'>) {
    this.#repeated = new RepeatedTimes(deps.clock, MARGIN_MS);
  }

  async start(): Promise<void> {
    const { items } = await this.deps.releases.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.start(items[0]?.updated_at);
  }

  /**
   * Returns the timestamp of a change written now.
   * @param before the previous timestamp; RFC 3339
   */
  next(before?: string): string {
    this.#repeated.check();
    const now = this.deps.clock.now();
    return isoOf(before === undefined ? now : Math.max(now, Date.parse(before) + 1));
  }

  /** Returns a cursor after which a client misses no change. RFC 3339. */
  safe(): string {
    return isoOf(this.deps.clock.now() - MARGIN_MS);
  }

  /**
   * Returns the start of a query with this cursor, also after the clock moved backwards. RFC 3339.
   */
  since(mark: string): string {
    return this.#repeated.since(mark);
  }
}
