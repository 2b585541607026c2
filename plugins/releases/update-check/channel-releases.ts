/** Indexed, so that the cost of a query does not depend on their number (contract 40, asking). */
import { normalizeVersion, compareVersions } from '../../../lib/versions.js';
import type { ReleaseDoc } from '../model.js';
import { PLATFORMS, type Platform } from '../../../lib/formats/platform.js';
import { isInRollout } from './rollout.js';

export type CachedRelease = Pick<
  ReleaseDoc,
  | 'id'
  | 'rev'
  | 'product'
  | 'channel'
  | 'version'
  | 'platform'
  | 'mandatory'
  | 'rollout_percent'
  | 'min_version'
  | 'published_at'
  | 'package_size'
  | 'package_sha256'
  | 'manifest_sha256'
  | 'manifest_signature'
  | 'key_id'
  | 'runtime'
  | 'has_setup'
  | 'withdrawn_at'
  | 'halted_at'
  | 'rolled_back'
>;

interface VersionReleases {
  version: string;
  byPlatform: Map<Platform, CachedRelease>;
}

interface OfferCandidate {
  release: CachedRelease;
  /** Position of its version, newest first. */
  order: number;
}

export interface PlatformView {
  /**
   * For all machines, newest first. Each has a lower `min_version` than those before; the last may
   * have none.
   */
  full: readonly OfferCandidate[];
  /** For some machines, newest first; none is older than the last of `full`. */
  partial: readonly OfferCandidate[];
  mandatory: readonly OfferCandidate[];
}

/** Part of the signed freshness statement (contract 97, rollback). */
export interface ChannelRollback {
  /** Newest version that was withdrawn. */
  from: string;
  to: string;
  at: string;
}

export interface ReleaseOffer {
  latest: CachedRelease | null;
  release: CachedRelease | null;
  mandatory: boolean;
}

export type PlatformViews = Readonly<Record<Platform, PlatformView>>;

export class ChannelReleases {
  readonly #versions: VersionReleases[] = [];
  readonly #byVersion = new Map<string, VersionReleases>();

  add(release: CachedRelease): boolean {
    const entry = this.#getOrCreateEntry(release.version);
    const known = entry.byPlatform.get(release.platform);
    if (known !== undefined && known.rev >= release.rev) return false;
    entry.byPlatform.set(release.platform, release);
    return true;
  }

  find(version: string, platform: Platform): CachedRelease | undefined {
    return this.#byVersion.get(normalizeVersion(version))?.byPlatform.get(platform);
  }

  *listAll(): Generator<CachedRelease> {
    for (const { byPlatform } of this.#versions) yield* byPlatform.values();
  }

  getViews(): PlatformViews {
    return Object.fromEntries(PLATFORMS.map((platform) => [platform, this.#buildView(platform)])) as Record<
      Platform,
      PlatformView
    >;
  }

  listSteps(): { version: string; min_version: string }[] {
    return this.#versions.flatMap(({ version, byPlatform }) => {
      const mins = [...byPlatform.values()].filter(isFullyRolledOut).flatMap((release) => release.min_version ?? []);
      const [first, ...more] = mins;
      if (first === undefined) return [];
      return [{ version, min_version: more.reduce((a, b) => (compareVersions(a, b) >= 0 ? a : b), first) }];
    });
  }

  isWithdrawn(platform: Platform, version: string): boolean {
    const installed = this.#findInstalled(platform, version);
    return installed !== undefined && installed.withdrawn_at !== null;
  }

  isRolledBack(platform: Platform, version: string): boolean {
    return this.#findInstalled(platform, version)?.rolled_back !== undefined;
  }

  /**
   * Returns a rollback that withdrew releases later than what a platform is offered now. Returns
   * null without one.
   */
  getRollback(views: PlatformViews): ChannelRollback | null {
    let result: ChannelRollback | null = null;
    for (const { platform, version, rolled_back } of this.listAll()) {
      if (rolled_back === undefined) continue;
      const served = platform === 'any' ? PLATFORMS : [platform];
      const isLater = served.some((name) => {
        const latest = getLatestRelease(views[name]);
        return latest !== null && compareVersions(latest.version, version) < 0;
      });
      if (!isLater) continue;
      const { to, at } = rolled_back;
      // The releases are listed newest first.
      result ??= { from: version, to, at };
      if (compareVersions(to, result.to) < 0) result = { ...result, to };
      if (at > result.at) result = { ...result, at };
    }
    return result;
  }

  #findInstalled(platform: Platform, version: string): CachedRelease | undefined {
    const byPlatform = this.#byVersion.get(normalizeVersion(version))?.byPlatform;
    return byPlatform?.get(platform) ?? byPlatform?.get('any');
  }

  #getOrCreateEntry(version: string): VersionReleases {
    const canonical = normalizeVersion(version);
    const known = this.#byVersion.get(canonical);
    if (known !== undefined) return known;
    const entry = { version, byPlatform: new Map<Platform, CachedRelease>() };
    this.#byVersion.set(canonical, entry);
    const at = findFirstIndex(this.#versions, (other) => compareVersions(other.version, version) < 0);
    this.#versions.splice(at, 0, entry);
    return entry;
  }

  #buildView(platform: Platform): PlatformView {
    const full: OfferCandidate[] = [];
    const partial: OfferCandidate[] = [];
    const mandatory: OfferCandidate[] = [];
    // A newer open release without a higher `min_version` hides it. Null: the newer one has none.
    let bound: string | null | undefined;
    this.#versions.forEach(({ byPlatform }, order) => {
      const release = [byPlatform.get(platform), byPlatform.get('any')].find((one) => one?.withdrawn_at === null);
      if (release === undefined) return;
      const candidate = { release, order };
      if (release.mandatory) mandatory.push(candidate);
      const { halted_at, rollout_percent, min_version } = release;
      if (bound === null || halted_at !== null || rollout_percent <= 0) return;
      if (bound !== undefined && min_version !== null && compareVersions(min_version, bound) >= 0) return;
      if (rollout_percent < 100) partial.push(candidate);
      else {
        full.push(candidate);
        bound = min_version;
      }
    });
    return { full, partial, mandatory };
  }
}

export function listOfferable(views: PlatformViews): Set<CachedRelease> {
  const lists = PLATFORMS.flatMap((platform) => [views[platform].full, views[platform].partial]);
  return new Set(lists.flat().map(({ release }) => release));
}

/** Returns one that is not withdrawn, not halted, with rollout at 100; null without one. */
export const getLatestRelease = ({ full }: PlatformView): CachedRelease | null => full[0]?.release ?? null;

/** Returns null when some machine is still offered the older one. */
export function findHidingRelease(
  { full }: PlatformView,
  { version, min_version }: Pick<CachedRelease, 'version' | 'min_version'>,
): CachedRelease | null {
  const hides = ({ release: newer }: OfferCandidate): boolean =>
    compareVersions(newer.version, version) > 0 &&
    (newer.min_version === null || (min_version !== null && compareVersions(newer.min_version, min_version) <= 0));
  return full.find(hides)?.release ?? null;
}

/**
 * @param version installed
 * @param isRolledBack a rollback withdrew it: the newest signed release for everyone is offered,
 *   although it is older
 */
export function selectOffer(
  view: PlatformView,
  version: string,
  instance: string | null,
  isRolledBack = false,
): ReleaseOffer {
  const { full, partial, mandatory } = view;
  const reaches = ({ release }: OfferCandidate): boolean => isInRollout(release.rollout_percent, instance, release.id);
  const fits = ({ release: { min_version } }: OfferCandidate): boolean =>
    min_version === null || compareVersions(min_version, version) <= 0;
  const newer = (
    than: OfferCandidate | undefined,
    wanted: (one: OfferCandidate) => boolean,
  ): OfferCandidate | undefined => {
    const bound = than?.order ?? Infinity;
    const found = partial.find((one) => one.order > bound || wanted(one));
    return found !== undefined && found.order < bound ? found : than;
  };
  const best = newer(findFirst(full, fits), (one) => fits(one) && reaches(one));
  const [newest] = full;
  const earlier = isRolledBack && newest !== undefined && newest.release.manifest_signature !== null ? newest : null;
  const offered = best !== undefined && compareVersions(best.release.version, version) > 0 ? best : earlier;
  // Any mandatory release up to the offered version makes the offer mandatory.
  const forced = offered === null ? undefined : findFirst(mandatory, ({ order }) => order >= offered.order);
  return {
    latest: newer(full[0], reaches)?.release ?? null,
    release: offered?.release ?? null,
    mandatory: forced !== undefined && compareVersions(forced.release.version, version) > 0,
  };
}

export const isFullyRolledOut = (release: CachedRelease): boolean =>
  release.withdrawn_at === null && release.halted_at === null && release.rollout_percent >= 100;

/** @param holds false up to some element, and true from there on */
function findFirstIndex<T>(list: readonly T[], holds: (element: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

const findFirst = <T>(list: readonly T[], holds: (element: T) => boolean): T | undefined =>
  list[findFirstIndex(list, holds)];
