/** The times of changes, by which delta queries ask (contract 00, lists). */
import { inject, injectable } from '../../kernel/contract.js';
import { RepeatedTimes } from '../../lib/clock-skew.js';
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

  /** Called before anything is written: the clock may have moved backwards since the last process. */
  async start(): Promise<void> {
    const { items } = await this.deps.releases.find({
      sort: [['updated_at', 'desc']],
      limit: 1,
      damaged: () => undefined,
    });
    this.#repeated.start(items[0]?.updated_at);
  }

  /** Of a change that is written now. @param before the stamp that it follows; RFC 3339 */
  next(before?: string): string {
    // The clock may catch up before the next query.
    this.#repeated.check();
    const now = this.deps.clock.now();
    return isoOf(before === undefined ? now : Math.max(now, Date.parse(before) + 1));
  }

  /** A client that asks for changes since this mark misses none. RFC 3339. */
  safe(): string {
    return isoOf(this.deps.clock.now() - MARGIN_MS);
  }

  /** Returns where a query with this mark starts, also after the clock moved backwards. RFC 3339. */
  since(mark: string): string {
    return this.#repeated.since(mark);
  }
}
