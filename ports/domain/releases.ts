/**
 * Releases for other plugins (contract 40), and their events: `release.published` closes bug items
 * (contract 20).
 */
import { event, token } from '../token.js';

export interface ReleasePublished {
  product: string;
  version: string;
  /** Build name given at publishing, an alternative in `resolved_in_build`. */
  build: string | null;
  channel: string;
  platform: string;
  signed: boolean;
  /** Ids of the first 100 closed items. */
  closed_items: readonly string[];
  closed_count: number;
}

export const RELEASE_PUBLISHED = event<ReleasePublished>('release.published');

/** Data of `release.halted`: a rollout halted automatically (contract 40, staged rollout). */
export interface ReleaseHalted {
  product: string;
  version: string;
  channel: string;
  platform: string;
  reason: string;
}

export const RELEASE_HALTED = event<ReleaseHalted>('release.halted');

/** Data of `release.rolled_back`: a channel returned to an earlier one (contract 97, rollback). */
export interface ReleaseRolledBack {
  product: string;
  channel: string;
  /** Null: all platforms. */
  platform: string | null;
  /** Newest version that was withdrawn. */
  from: string;
  /** Version that is offered as the newest. */
  to: string;
  reason: string;
  /** Withdrawn versions, newest first. */
  withdrawn: readonly string[];
}

export const RELEASE_ROLLED_BACK = event<ReleaseRolledBack>('release.rolled_back');

/** A release offered for installation (contract 60, catalog). */
export interface CatalogChannel {
  channel: string;
  version: string;
  platform: string;
  published_at: string;
  /** Bytes. */
  package_size: number;
  signed: boolean;
  /** Required runtime from the package's manifest, or null. */
  runtime: { name: string; version: string } | null;
  has_setup: boolean;
}

export interface ReleaseDirectory {
  /** Lists the newest release of each channel for a platform: exact platform, otherwise `any`. */
  listChannels(product: string, platform: string): Promise<CatalogChannel[]>;
  /** Lists products with a release that is not withdrawn. */
  listProducts(): Promise<string[]>;
}

export const RELEASES = token<ReleaseDirectory>('releases.directory');

export type ProtectionState = 'protected' | 'open' | 'inconclusive' | 'no_packages' | 'not_tested';

/** Result of a maintenance run: access files, then self-test (contract 90, tick). */
export interface ReleaseStoreState {
  protection: ProtectionState;
  /** Products whose files this run wrote. */
  regenerated: readonly string[];
  last_selftest_at: string | null;
  /** Self-test result of each product. */
  products: readonly {
    product: string;
    protection: ProtectionState;
    statuses: Readonly<Record<string, number | null>>;
  }[];
  /** The result differs from the previous one. */
  changed: boolean;
}

export interface ReleaseStoreMaintenance {
  /**
   * Regenerates access files and runs the self-test.
   * @param force even if nothing is due (`aos store regenerate`)
   */
  run(force?: boolean): Promise<ReleaseStoreState>;
}

export const RELEASE_STORE = token<ReleaseStoreMaintenance>('releases.store');

/** Re-signs after a rotation of the release key (contract 40, files). */
export interface ReleaseSigning {
  /** Signs releases that are not withdrawn, and statements, with the current key. */
  resign(): Promise<{ releases: number }>;
}

export const RELEASE_SIGNING = token<ReleaseSigning>('releases.signing');

/** A git commit. Its texts are external input. */
export interface BuildCommit {
  /** Hash, hex. */
  id: string;
  author_name: string | null;
  /** RFC 3339 in UTC, or null. */
  timestamp: string | null;
  /** First line. */
  message: string;
  /** Paths from the repository root, with slashes. */
  files: string[];
}

export interface BuildCommits {
  /** `git log` range such as `1.3.0..HEAD`, or null. */
  range: string | null;
  /** Newest first. */
  commits: BuildCommit[];
  /** Some commits or texts exceeded the limits. */
  truncated: boolean;
}

/** Commits of each version, from which items name suspects. */
export interface BuildHistory {
  /**
   * Replaces the commits of a version and returns them truncated and scrubbed. Resolves after the
   * commit.
   */
  save(project: string, version: string, given: BuildCommits): Promise<BuildCommits>;
  /** Returns null when no commits are stored. */
  find(project: string, version: string): Promise<BuildCommits | null>;
}

/** Publishes known to the bug tracker, for plugins that the update service depends on. */
export interface PublishedVersions {
  /**
   * Returns whether a version was published and not withdrawn.
   * @param version in any spelling
   */
  isPublished(project: string, version: string): Promise<boolean>;
  /**
   * Lists versions with the time of their first publish, newest first.
   * @param version only this one
   */
  listPublishes(project: string, version?: string): Promise<readonly { version: string; published_at: string }[]>;
}

export const PUBLISHED_VERSIONS = token<PublishedVersions>('bugs.published_versions');

export const BUILD_HISTORY = token<BuildHistory>('bugs.build_history');
