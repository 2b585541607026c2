import { inject, injectable, PORT, type Clock, type Collection } from '../../kernel/contract/index.js';
import { KeyedCoalescedCache } from '../../lib/caching/coalesced-cache.js';
import { compareVersions, getVersionIdentity, isVersion } from '../../lib/versions.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import type {
  ChannelNewest,
  MachineAdoption,
  MachineCount,
  MachineDay,
  MachineInventory,
  MachineQuery,
  MachineReleases,
  MachineReport,
  MachineTotals,
  MachineView,
} from '../../ports/domain/machines/inventory.js';
import { InvalidCursor, type Filter } from '../../ports/store/index.js';
import { MachineDayCounter } from './day-counts.js';
import type { InventoryDoc } from './documents.js';
import { FIND_MACHINE_RELEASES, MACHINE_ROWS, MachineReportWriter } from './report-writer.js';

const SILENT_AFTER_MS = 7 * DAY_MS;
const MAX_CACHED_PROJECTS = 500;
const MAX_CACHE_AGE_MS = 5_000;
const MAX_UNCACHED_MACHINES = 500;

interface PlaceCount extends MachineCount {
  place: string;
  outdated: boolean;
}

type MachinePage = { items: (MachineView & { outdated: boolean })[]; next: string | null };

@injectable()
export class MachineInventoryService implements MachineInventory {
  readonly #counts = new KeyedCoalescedCache<PlaceCount[]>(MAX_CACHED_PROJECTS, {
    maxAgeMs: MAX_CACHE_AGE_MS,
    isSmall: (places) => places.reduce((sum, { machines }) => sum + machines, 0) <= MAX_UNCACHED_MACHINES,
    monotonic: () => this.clock.monotonic(),
  });

  constructor(
    @inject(MACHINE_ROWS) private readonly rows: Collection<InventoryDoc>,
    @inject(FIND_MACHINE_RELEASES) private readonly releases: () => MachineReleases | undefined,
    @inject(MachineReportWriter) private readonly writer: MachineReportWriter,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(MachineDayCounter) private readonly dayCounts: MachineDayCounter,
  ) {}

  record(report: MachineReport): void {
    this.writer.record(report);
  }

  async listCounts(project?: string): Promise<MachineCount[]> {
    return (await this.#listPlaces(project)).map(({ place: _place, outdated: _outdated, ...count }) => count);
  }

  async listAdoption(project: string, version: string, channel: string): Promise<MachineAdoption[]> {
    const wanted = getVersionIdentity(version);
    const places = (await this.#listPlaces(project)).filter(
      (one) => one.channel === channel && one.version !== null && getVersionIdentity(one.version) === wanted,
    );
    if (places.length === 0) return [];
    const counts = await this.rows.groupCount('version_since', { place: { in: places.map(({ place }) => place) } });
    return counts
      .map(({ key, n }) => ({ hour: String(key), machines: n }))
      .toSorted((a, b) => (a.hour < b.hour ? -1 : 1));
  }

  async listDays(project: string, days: number): Promise<MachineDay[]> {
    const [before, counts] = await Promise.all([this.dayCounts.list(project, days), this.listCounts(project)]);
    const sums = new Map<string | null, number>();
    for (const { version, machines } of counts) sums.set(version, (sums.get(version) ?? 0) + machines);
    const versions = [...sums].map(([version, machines]) => ({ version, machines }));
    const day = toIsoString(this.clock.now()).slice(0, 10);
    return [...before, { day, versions: versions.toSorted((a, b) => b.machines - a.machines) }];
  }

  async getTotals(project?: string): Promise<MachineTotals> {
    const places = await this.#listPlaces(project);
    const silent = await this.rows.count({ ...toProjectFilter(project), ...this.#buildSilentFilter() });
    return { machines: sumMachines(places), outdated: sumMachines(places.filter(({ outdated }) => outdated)), silent };
  }

  async list({ limit, after = null, ...query }: MachineQuery): Promise<MachinePage> {
    await this.writer.flushBeforeRead();
    const { project, version, channel, platform, outdated } = query;
    const filter = { ...toProjectFilter(project), ...(query.silent === true && this.#buildSilentFilter()) };
    if (version === undefined && channel === undefined && platform === undefined && outdated !== true) {
      const { items, next } = await this.rows.find({ filter, sort: [['last_seen_at', 'desc']], limit, after });
      return { items: this.#toViews(items), next };
    }
    const wanted = version === undefined ? null : getVersionIdentity(version);
    const places = (await this.#listPlaces(project)).filter(
      (one) =>
        (outdated !== true || one.outdated) &&
        (channel === undefined || one.channel === channel) &&
        (platform === undefined || one.platform === null || one.platform === platform) &&
        (wanted === null || (one.version !== null && getVersionIdentity(one.version) === wanted)),
    );
    return this.#listByPlace(
      places.map(({ place }) => place),
      filter,
      { limit, after },
    );
  }

  /** Reads one place after the other, because the store cannot merge sorted ranges. */
  async #listByPlace(
    places: readonly string[],
    filter: Filter,
    { limit, after }: { limit: number; after: string | null },
  ): Promise<MachinePage> {
    const start = after === null ? { place: '', after: null } : parseCursor(after);
    const items: InventoryDoc[] = [];
    const sorted = places.toSorted().filter((one) => one >= start.place);
    for (const place of sorted) {
      const page = await this.rows.find({
        filter: { ...filter, place },
        sort: [['last_seen_at', 'desc']],
        limit: limit - items.length,
        after: place === start.place ? start.after : null,
      });
      items.push(...page.items);
      if (items.length < limit) continue;
      const next = page.next === null ? sorted.find((one) => one > place) : place;
      return {
        items: this.#toViews(items),
        next: next === undefined ? null : JSON.stringify([next, page.next]),
      };
    }
    return { items: this.#toViews(items), next: null };
  }

  async #listPlaces(project: string | undefined): Promise<PlaceCount[]> {
    await this.writer.flushBeforeRead();
    return this.#counts.get(project ?? '', () => this.#readPlaces(project));
  }

  async #readPlaces(project: string | undefined): Promise<PlaceCount[]> {
    const counts = await this.rows.groupCount('place', toProjectFilter(project));
    const newest = this.#createNewestReader();
    return counts.map(({ key, n }) => toPlaceCount(String(key), n, newest)).toSorted((a, b) => b.machines - a.machines);
  }

  #toViews(rows: readonly InventoryDoc[]): MachinePage['items'] {
    const newest = this.#createNewestReader();
    return rows.map((row) => {
      const { id, project, instance_id, monitor, version, channel, platform, license_id } = row;
      const name = row.name ?? instance_id ?? monitor ?? id;
      const { first_seen_at, last_seen_at } = row;
      const outdated = isOutdated(row, newest(project));
      return {
        id,
        project,
        name,
        instance_id,
        version,
        channel,
        platform,
        license_id,
        monitor,
        first_seen_at,
        last_seen_at,
        outdated,
      };
    });
  }

  #createNewestReader(): NewestReader {
    const known = new Map<string, readonly ChannelNewest[]>();
    return (project) => {
      const found = known.get(project) ?? this.releases()?.listNewest(project) ?? [];
      known.set(project, found);
      return found;
    };
  }

  #buildSilentFilter(): Filter {
    return { last_seen_at: { lt: toIsoString(this.clock.now() - SILENT_AFTER_MS) } };
  }
}

type NewestReader = (project: string) => readonly ChannelNewest[];

const toProjectFilter = (project: string | undefined): Filter => (project === undefined ? {} : { project });

const sumMachines = (places: readonly MachineCount[]): number =>
  places.reduce((sum, { machines }) => sum + machines, 0);

function toPlaceCount(place: string, machines: number, newest: NewestReader): PlaceCount {
  const [project, channel, platform, version] = JSON.parse(place) as [string, string, string | null, string | null];
  const outdated = isOutdated({ channel, platform, version }, newest(project));
  return { project, channel, platform, version, machines, place, outdated };
}

/** Compares with the newest release for the platform, or for any where the machine named none. */
export function isOutdated(
  { channel, platform, version }: Pick<MachineCount, 'channel' | 'platform' | 'version'>,
  newest: readonly ChannelNewest[],
): boolean {
  if (version === null || !isVersion(version)) return false;
  const offered = newest.filter((one) => one.channel === channel);
  const exact = offered.filter((one) => one.platform === platform);
  const fits = exact.length > 0 ? exact : offered.filter((one) => platform === null || one.platform === 'any');
  return fits.some((one) => compareVersions(version, one.version) < 0);
}

function parseCursor(cursor: string): { place: string; after: string | null } {
  try {
    const [place, after] = JSON.parse(cursor) as unknown[];
    if (typeof place === 'string' && (after === null || typeof after === 'string')) return { place, after };
  } catch {
    // Falls through: whatever it is, this list did not make it.
  }
  throw new InvalidCursor();
}
