import type { VersionHealth } from '../../../ports/domain/release-health.js';
import { HOUR_MS, toIsoString } from '../../../lib/time.js';
import { isVersion, isSameVersion } from '../../../lib/versions.js';
import type { ReleaseDoc } from '../model.js';
import type { ReleaseServices } from '../services.js';
import { listPreviousVersions } from '../previous-versions.js';

const MIN_SHOWN_HOURS = 24;
const MAX_SHOWN_HOURS = 168;
const PAGE_SIZE = 200;

export interface HealthRow {
  version: string;
  sessions: number;
  crash_free_sessions: string | null;
  people: number;
  crash_free_people: string | null;
  adoption: string | null;
}

export interface ShownHealth {
  /** `24 hours`, `5 days`. */
  range: string;
  own: HealthRow | null;
  before: HealthRow | null;
  trend: string | null;
  tone: string;
  curve: CrashFreeCurve | null;
}

export interface CrashFreeCurve {
  points: { t: string; avg: number }[];
  from: string;
  to: string;
  /** Of the previous version, in percent. */
  mean: number | null;
}

export async function getShownHealth(
  { deps, docs }: ReleaseServices,
  doc: ReleaseDoc,
): Promise<ShownHealth | undefined> {
  const health = deps.health();
  if (health === undefined) return undefined;
  const hours = getShownHours(deps.clock.now(), doc);
  const [versions, releases] = await Promise.all([
    health.listVersions({ project: doc.product, hours }),
    docs.listPage({ product: doc.product, channel: doc.channel }, PAGE_SIZE, null),
  ]);
  const find = (version: string): VersionHealth | undefined =>
    versions.find(
      (one) => one.version !== null && isVersion(one.version) && isSameVersion(one.version, version) && one.started > 0,
    );
  const own = find(doc.version);
  const earlier = listPreviousVersions(doc, releases.items).find((version) => find(version) !== undefined);
  const before = earlier === undefined ? undefined : find(earlier);
  return {
    range: hours <= 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`,
    own: toHealthRow(own, doc.version),
    before: toHealthRow(before, earlier),
    ...computeTrend(own, before, earlier),
    curve: buildCrashFreeCurve(own, before),
  };
}

/** Since the publish, within bounds. */
const getShownHours = (now: number, { published_at }: Pick<ReleaseDoc, 'published_at'>): number =>
  Math.min(Math.max(Math.ceil((now - Date.parse(published_at)) / HOUR_MS) + 1, MIN_SHOWN_HOURS), MAX_SHOWN_HOURS);

function buildCrashFreeCurve(own: VersionHealth | undefined, before: VersionHealth | undefined): CrashFreeCurve | null {
  const hours = own?.hours ?? [];
  const points = hours
    .filter(({ started }) => started > 0)
    .map(({ hour, started, crashed }) => ({ t: hour, avg: Math.max(0, 100 * (1 - crashed / started)) }));
  const [first, last] = [hours[0], hours.at(-1)];
  if (points.length === 0 || first === undefined || last === undefined) return null;
  const share = before?.crash_free_sessions ?? null;
  const to = toIsoString(Date.parse(last.hour) + HOUR_MS);
  return { points, from: first.hour, to, mean: share === null ? null : share * 100 };
}

function toHealthRow(health: VersionHealth | undefined, version: string | undefined): HealthRow | null {
  if (health === undefined || version === undefined) return null;
  return {
    version,
    sessions: health.started,
    crash_free_sessions: formatPercent(health.crash_free_sessions),
    people: health.people,
    crash_free_people: formatPercent(health.crash_free_people),
    adoption: formatPercent(health.adoption),
  };
}

const formatPercent = (share: number | null): string | null =>
  share === null ? null : `${(share * 100).toFixed(2)} %`;

function computeTrend(
  own: VersionHealth | undefined,
  before: VersionHealth | undefined,
  version: string | undefined,
): Pick<ShownHealth, 'trend' | 'tone'> {
  const [now, then] = [own?.crash_free_sessions ?? null, before?.crash_free_sessions ?? null];
  if (now === null || then === null || version === undefined) return { trend: null, tone: 'neutral' };
  const points = (now - then) * 100;
  const size = Math.abs(points).toFixed(Math.abs(points) < 0.1 ? 2 : 1);
  if (size === '0.00') return { trend: `same as ${version}`, tone: 'neutral' };
  return points < 0
    ? { trend: `${size} points below ${version}`, tone: 'danger' }
    : { trend: `${size} points above ${version}`, tone: 'success' };
}
