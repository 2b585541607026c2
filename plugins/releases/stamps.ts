/** The times of changes, by which delta queries ask (contract 00, lists). */
import { inject, injectable } from '../../kernel/contract.js';
import { RepeatedTimes } from '../../lib/clocks/repeated-times.js';
import { isoOf, MINUTE_MS } from '../../lib/time.js';
import { DEPS, type ReleaseDeps } from './deps.js';

/** A write may become visible this long after its stamp. */
const MARGIN_MS = MINUTE_MS;

@injectable()
export class ReleaseStamps {
  readonly #repeated: RepeatedTimes;

  constructor(@inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'clock' | 'releases'>) {
    this.#repeated = new RepeatedTimes(deps.clock, MARGIN_MS);
  }

  /** Before anything is written: the clock may have been put back since the last process. */
  async start(): Promise<void> {
    const { items } = await this.deps.releases.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.begin(items[0]?.updated_at);
  }

  /** Of a change that is written now. @param before the stamp that it follows; RFC 3339 */
  next(before?: string): string {
    // The clock may be there again before anybody asks.
    this.#repeated.look();
    const now = this.deps.clock.now();
    return isoOf(before === undefined ? now : Math.max(now, Date.parse(before) + 1));
  }

  /** A client that asks for changes since this mark misses none. RFC 3339. */
  safe(): string {
    return isoOf(this.deps.clock.now() - MARGIN_MS);
  }

  /** Where a question with this mark begins, after a clock was put back too. RFC 3339. */
  since(mark: string): string {
    return this.#repeated.since(mark);
  }
}
