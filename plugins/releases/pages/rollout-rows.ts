/** How far the newest releases have come: for Home and a project's page. */
import { formatShare, toShareChange } from '../../../lib/figures/count-change.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { isSameVersion, isVersion } from '../../../lib/versions.js';
import type { ProjectRollout } from '../../../ports/domain/projects.js';
import type { VersionHealth } from '../../../ports/domain/release-health.js';
import { listPreviousVersions } from '../previous-versions.js';
import type { ReleaseServices } from '../services.js';
import type { CachedRelease } from '../update-check/channel-releases.js';
import { countUpdated } from './adoption.js';

const MAX_ROLLOUTS = 5;
const HEALTH_HOURS = 24;

export type RolloutServices = Pick<ReleaseServices, 'deps' | 'docs' | 'index'>;

const isRunning = ({ rollout_percent, halted_at }: CachedRelease): boolean =>
  rollout_percent < 100 || halted_at !== null;

/**
 * @param project null: all
 * @param finishedDays for which a finished rollout is listed
 */
export async function listRolloutRows(
  services: RolloutServices,
  project: string | null,
  finishedDays: number,
): Promise<ProjectRollout[]> {
  const releases = await listNewest(services, project, finishedDays);
  return Promise.all(releases.map((release) => toRolloutRow(services, release)));
}

/** The newest release of each channel: running rollouts first, then finished ones by age. */
async function listNewest(
  { index, deps }: RolloutServices,
  project: string | null,
  finishedDays: number,
): Promise<CachedRelease[]> {
  await index.ensureCurrent();
  const since = toIsoString(deps.clock.now() - finishedDays * DAY_MS);
  const products = project === null ? index.listProducts() : [project];
  const newest = products.flatMap((product) =>
    index.listChannels(product).flatMap((channel) => {
      for (const release of index.getChannel(product, channel).releases.listAll())
        if (release.withdrawn_at === null) return [release];
      return [];
    }),
  );
  return newest
    .filter((release) => isRunning(release) || release.published_at >= since)
    .toSorted((a, b) => Number(isRunning(b)) - Number(isRunning(a)) || (a.published_at < b.published_at ? 1 : -1))
    .slice(0, MAX_ROLLOUTS);
}

const isOfVersion = (version: string | null, wanted: string): boolean =>
  version !== null && isVersion(version) && isSameVersion(version, wanted);

async function toRolloutRow({ deps, docs }: RolloutServices, release: CachedRelease): Promise<ProjectRollout> {
  const { id, product, channel, version, rollout_percent: percent, halted_at } = release;
  const [counts, health, doc, others] = await Promise.all([
    deps.machines()?.listCounts(product) ?? [],
    deps.health()?.listVersions({ project: product, hours: HEALTH_HOURS }) ?? [],
    docs.get(id),
    docs.listReadable({ product, channel }),
  ]);
  const { updated, all } = countUpdated(counts, release);
  const findHealth = (wanted: string): VersionHealth | undefined =>
    health.find((one) => isOfVersion(one.version, wanted) && one.crash_free_sessions !== null);
  const share = findHealth(version)?.crash_free_sessions ?? null;
  const previous =
    doc === null ? undefined : listPreviousVersions(doc, others).find((one) => findHealth(one) !== undefined);
  const before = previous === undefined ? null : (findHealth(previous)?.crash_free_sessions ?? null);
  return {
    href: `/releases/${id}`,
    name: `${product} ${version}${channel === 'stable' ? '' : ` (${channel})`}`,
    percent,
    halted: halted_at !== null,
    machines: all === 0 ? null : { updated, all },
    crash_free: share === null ? null : formatShare(share),
    change: share === null ? null : toShareChange(share, before),
    previous: previous ?? null,
  };
}
