import type { VersionHealth } from '../../../ports/domain/release-health.js';
import { isVersion, isSameVersion } from '../../../lib/versions.js';
import type { ReleaseDoc } from '../model.js';
import type { ReleaseServices } from '../services.js';
import { listPreviousVersions } from '../previous-versions.js';

const SHOWN_HOURS = 24;
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
  hours: number;
  own: HealthRow | null;
  before: HealthRow | null;
  trend: string | null;
  tone: string;
  started: number[];
  crashed: number[];
}

export async function getShownHealth(
  { deps, docs }: ReleaseServices,
  doc: ReleaseDoc,
): Promise<ShownHealth | undefined> {
  const health = deps.health();
  if (health === undefined) return undefined;
  const [versions, releases] = await Promise.all([
    health.listVersions({ project: doc.product, hours: SHOWN_HOURS }),
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
    hours: SHOWN_HOURS,
    own: toHealthRow(own, doc.version),
    before: toHealthRow(before, earlier),
    ...computeTrend(own, before, earlier),
    started: own?.hours.map(({ started }) => started) ?? [],
    crashed: own?.hours.map(({ crashed }) => crashed) ?? [],
  };
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
  const size = Math.abs(points).toFixed(2);
  if (size === '0.00') return { trend: `as ${version}`, tone: 'neutral' };
  return points < 0
    ? { trend: `${size} points below ${version}`, tone: 'danger' }
    : { trend: `${size} points above ${version}`, tone: 'success' };
}
