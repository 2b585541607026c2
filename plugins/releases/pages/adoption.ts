/** Machines of a release, from the inventory of machines (contract 80). */
import { isSameVersion, isVersion } from '../../../lib/versions.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import type { MachineAdoption, MachineCount } from '../../../ports/domain/machines/inventory.js';
import type { VersionAdoption } from '../../../ports/domain/watchdog.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

const CURVE_POINTS = 60;

export interface CurvePoint {
  t: string;
  avg: number;
}

export interface ShownAdoption {
  updated: number;
  all: number;
  href: string;
  versions: VersionAdoption[];
  curve: { points: CurvePoint[]; from: string; to: string; bucket: number };
}

type PlacedRelease = Pick<ReleaseDoc, 'product' | 'channel' | 'version' | 'platform' | 'published_at'>;

export async function loadAdoption(
  { machines, clock }: Pick<ReleaseDeps, 'machines' | 'clock'>,
  release: PlacedRelease,
): Promise<ShownAdoption | null> {
  const inventory = machines();
  if (inventory === undefined) return null;
  const { product, version, channel, platform } = release;
  const [counts, adopted] = await Promise.all([
    inventory.listCounts(product),
    inventory.listAdoption(product, version, channel),
  ]);
  const now = Math.max(clock.now(), Date.parse(release.published_at) + HOUR_MS);
  return {
    ...countUpdated(counts, release),
    href: `/machines?${new URLSearchParams({ project: product, version, channel, ...(platform !== 'any' && { platform }) }).toString()}`,
    versions: sumByVersion(counts.filter((count) => isReached(count, release))),
    curve: buildCurve(adopted, Date.parse(release.published_at), now),
  };
}

/** Machines of a release, and those that run it: the same numbers on every page. */
export function countUpdated(
  counts: readonly MachineCount[],
  release: Pick<ReleaseDoc, 'channel' | 'platform' | 'version'>,
): { updated: number; all: number } {
  const reached = counts.filter((count) => isReached(count, release));
  return {
    updated: sumMachines(reached.filter((count) => isVersionReported(count.version, release.version))),
    all: sumMachines(reached),
  };
}

/**
 * Machines that the release is offered to: of its channel, and of its platform where it has one.
 */
const isReached = ({ channel, platform }: MachineCount, release: Pick<ReleaseDoc, 'channel' | 'platform'>): boolean =>
  channel === release.channel && (release.platform === 'any' || platform === null || platform === release.platform);

export const isVersionReported = (reported: string | null, version: string): boolean =>
  reported !== null && isVersion(reported) && isSameVersion(reported, version);

export const sumMachines = (counts: readonly MachineCount[]): number =>
  counts.reduce((sum, { machines }) => sum + machines, 0);

/** Most frequent first; null: unknown version. */
export function sumByVersion(counts: readonly MachineCount[]): VersionAdoption[] {
  const sums = new Map<string | null, number>();
  for (const { version, machines } of counts) sums.set(version, (sums.get(version) ?? 0) + machines);
  return [...sums]
    .map(([version, machines]) => ({ version, monitors: machines, up: 0 }))
    .toSorted((a, b) => b.monitors - a.monitors);
}

/** An hour's machines count from its end. */
export function buildCurve(adopted: readonly MachineAdoption[], from: number, to: number): ShownAdoption['curve'] {
  const step = Math.max((to - from) / CURVE_POINTS, 1);
  const points = Array.from({ length: CURVE_POINTS + 1 }, (_, i) => {
    const at = from + i * step;
    const isLast = i === CURVE_POINTS;
    const avg = adopted.reduce((sum, { hour, machines }) => {
      return isLast || Date.parse(hour) + HOUR_MS <= at ? sum + machines : sum;
    }, 0);
    return { t: toIsoString(at), avg };
  });
  return { points, from: toIsoString(from), to: toIsoString(to), bucket: step / 1000 };
}
