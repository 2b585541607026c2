/** Home: an unprotected release store, and running rollouts (contract 80). */
import { View, type PanelSpec } from '../../../kernel/contract/index.js';
import { formatShare, toShareChange, type CountChange } from '../../../lib/figures/count-change.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { isSameVersion, isVersion } from '../../../lib/versions.js';
import type { VersionHealth } from '../../../ports/domain/release-health.js';
import type { SelfTestResult } from '../access-files/self-test-result.js';
import { listPreviousVersions } from '../previous-versions.js';
import type { ReleaseServices } from '../services.js';
import type { CachedRelease } from '../update-check/channel-releases.js';

const MAX_ROLLOUTS = 5;
/** A finished rollout is shown for so long. */
const FINISHED_DAYS = 14;
const HEALTH_HOURS = 24;

interface RolloutRow {
  href: string;
  name: string;
  percent: number;
  halted: boolean;
  /** Of the machines on its channel; null: there are none. */
  machines: { updated: number; all: number } | null;
  crash_free: string | null;
  change: CountChange | null;
  previous: string | null;
}

const isRunning = ({ rollout_percent, halted_at }: CachedRelease): boolean =>
  rollout_percent < 100 || halted_at !== null;

export function releasePanels(
  services: ReleaseServices,
  selfTest: () => Promise<SelfTestResult | undefined>,
): PanelSpec[] {
  const { deps } = services;
  return [
    {
      id: 'releases.open',
      kind: 'attention',
      order: 2,
      load: async (_session, project) => {
        const last = await selfTest();
        if (last?.protection !== 'open') return null;
        const open = last.products.filter(
          ({ protection, product }) => protection === 'open' && (!project || product === project),
        );
        if (open.length === 0) return null;
        const names = new Map((await deps.projects.list()).map(({ slug, name }) => [slug, name]));
        const products = open.map(({ product }) => names.get(product) ?? product).join(', ');
        return new View('panel-open', { products, at: last.at });
      },
    },
    {
      id: 'releases.rollouts',
      kind: 'side',
      order: 10,
      load: async (session, project) => {
        const releases = await listRollouts(services, project ?? null);
        if (releases.length === 0) return null;
        const items = await Promise.all(releases.map((release) => toRolloutRow(services, release)));
        const href = project ? `/releases?product=${encodeURIComponent(project)}` : '/releases';
        return new View('panel-rollouts', { items, href, admin: session.role === 'admin' });
      },
    },
  ];
}

/** The newest release of each channel: running rollouts first, then finished ones by age. */
async function listRollouts({ index, deps }: ReleaseServices, project: string | null): Promise<CachedRelease[]> {
  await index.ensureCurrent();
  const since = toIsoString(deps.clock.now() - FINISHED_DAYS * DAY_MS);
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

async function toRolloutRow({ deps, docs }: ReleaseServices, release: CachedRelease): Promise<RolloutRow> {
  const { id, product, channel, version, platform, rollout_percent: percent, halted_at } = release;
  const [counts, health, doc, others] = await Promise.all([
    deps.machines()?.listCounts(product) ?? [],
    deps.health()?.listVersions({ project: product, hours: HEALTH_HOURS }) ?? [],
    docs.get(id),
    docs.listReadable({ product, channel }),
  ]);
  const offered = counts.filter(
    (one) => one.channel === channel && (platform === 'any' || one.platform === null || one.platform === platform),
  );
  const all = offered.reduce((sum, { machines }) => sum + machines, 0);
  const updated = offered.reduce((sum, one) => (isOfVersion(one.version, version) ? sum + one.machines : sum), 0);
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
