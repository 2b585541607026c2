/**
 * Per token, including its sub-tokens (contract 00, limits). Counts are cached, so several
 * processes may briefly exceed it.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { WatchdogCaller } from '../model/caller.js';
import { DEPS } from '../deps.js';
import type { Clock } from '../../../ports/clock.js';
import type { MonitorDoc } from '../model/documents.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_CACHED_TOKENS = 1_000;
/** At the limit it is one second. */
const CACHE_TTL_MS = 30_000;
const FULL_CACHE_TTL_MS = 1_000;

interface CachedCount {
  n: number;
  since: number;
}

@injectable()
export class MonitorQuota {
  readonly #counts = new BoundedMap<CachedCount>({ most: MAX_CACHED_TOKENS });
  readonly #creating = new Map<string, number>();

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.monitorsPerToken) private readonly monitorsPerToken: number,
  ) {}

  /**
   * @param create returns whether it created a monitor
   * @throws ServiceError validation_failed
   */
  async createWithinQuota(caller: WatchdogCaller, create: () => Promise<boolean>): Promise<boolean> {
    const most = caller.most ?? this.monitorsPerToken;
    if (caller.token === null || caller.source !== null || most === 0) return create();
    const { token } = caller;
    const count = await this.#count(token, most);
    const creating = this.#creating.get(token) ?? 0;
    if (count.n + creating >= most) {
      const full =
        caller.most === undefined
          ? `the heartbeats of this token have reached the limit of ${most} monitors (limits.monitors_per_token)`
          : `intake keys have reached the limit of ${most} monitors of this project`;
      throw invalid({ source: `is unknown, and ${full}` });
    }
    this.#creating.set(token, creating + 1);
    try {
      const created = await create();
      if (created) count.n += 1;
      return created;
    } finally {
      const left = (this.#creating.get(token) ?? 1) - 1;
      if (left > 0) this.#creating.set(token, left);
      else this.#creating.delete(token);
    }
  }

  async #count(token: string, most: number): Promise<CachedCount> {
    const { monitors, clock } = this;
    const now = clock.monotonic();
    const known = this.#counts.get(token);
    const believed = known !== undefined && known.n >= most ? FULL_CACHE_TTL_MS : CACHE_TTL_MS;
    if (known !== undefined && now - known.since < believed) return known;
    const n = await monitors.count({ created_by_token: token });
    const latest = this.#counts.get(token);
    if (latest !== undefined && latest !== known) return latest;
    const count = { n, since: now };
    this.#counts.set(token, count);
    return count;
  }
}
