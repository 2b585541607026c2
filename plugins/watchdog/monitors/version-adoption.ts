import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedCoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { getVersionIdentity } from '../../../lib/versions.js';
import type { VersionAdoption } from '../../../ports/domain/watchdog.js';
import type { Scalar, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import type { Clock } from '../../../ports/clock.js';
import type { MonitorDoc } from '../model/documents.js';

export type VersionCounts = readonly { key: Scalar; n: number }[];

const MAX_CACHED_PROJECTS = 500;
const MAX_CACHE_AGE_MS = 5_000;
const MAX_UNCACHED_MONITORS = 500;

@injectable()
export class VersionAdoptionService {
  readonly #cache = new KeyedCoalescedCache<VersionAdoption[]>(MAX_CACHED_PROJECTS, {
    maxAgeMs: MAX_CACHE_AGE_MS,
    isSmall: (versions) => versions.reduce((sum, { monitors }) => sum + monitors, 0) <= MAX_UNCACHED_MONITORS,
    monotonic: () => this.clock.monotonic(),
  });

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  getAdoption(project: string): Promise<VersionAdoption[]> {
    return this.#cache.get(project, () => this.#read(project));
  }

  async #read(project: string): Promise<VersionAdoption[]> {
    const filter = { project, deleted_at: null };
    const [all, up] = await Promise.all([
      this.monitors.groupCount('app_version', filter),
      this.monitors.groupCount('app_version', { ...filter, state: 'up' }),
    ]);
    return toVersionAdoption(all, up);
  }
}

export function toVersionAdoption(all: VersionCounts, up: VersionCounts): VersionAdoption[] {
  const found = new Map<string | null, VersionAdoption>();
  const ordered = all.toSorted((a, b) => b.n - a.n || (String(a.key) < String(b.key) ? -1 : 1));
  for (const { key, n } of ordered) {
    const version = key === null ? null : String(key);
    const one = found.get(toVersionKey(key)) ?? { version, monitors: 0, up: 0 };
    found.set(toVersionKey(key), { ...one, monitors: one.monitors + n });
  }
  for (const { key, n } of up) {
    const one = found.get(toVersionKey(key));
    if (one !== undefined) one.up = Math.min(one.monitors, one.up + n);
  }
  return [...found.values()].toSorted((a, b) => b.monitors - a.monitors);
}

function toVersionKey(key: Scalar): string | null {
  return key === null ? null : getVersionIdentity(String(key));
}
