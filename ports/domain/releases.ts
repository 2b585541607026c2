/** Releases for other plugins (contract 40) (contract 20). */
import { event, token } from '../token.js';

export interface ReleasePublished {
  product: string;
  version: string;
  build: string | null;
  channel: string;
  platform: string;
  signed: boolean;
  closed_items: readonly string[];
  closed_count: number;
}

export const RELEASE_PUBLISHED = event<ReleasePublished>('release.published');

/** Data of `release.halted` (contract 40, staged rollout). */
export interface ReleaseHalted {
  product: string;
  version: string;
  channel: string;
  platform: string;
  reason: string;
}

export const RELEASE_HALTED = event<ReleaseHalted>('release.halted');

/** Data of `release.rolled_back` (contract 97, rollback). */
export interface ReleaseRolledBack {
  product: string;
  channel: string;
  platform: string | null;
  from: string;
  to: string;
  reason: string;
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
  /** Lists the newest release of each channel: exact platform, otherwise `any`. */
  listChannels(product: string, platform: string): Promise<CatalogChannel[]>;
  listProducts(): Promise<string[]>;
}

export const RELEASES = token<ReleaseDirectory>('releases.directory');

export type ProtectionState = 'protected' | 'open' | 'inconclusive' | 'no_packages' | 'not_tested';

/** Result of a maintenance run (contract 90, tick). */
export interface ReleaseStoreState {
  protection: ProtectionState;
  regenerated: readonly string[];
  last_selftest_at: string | null;
  products: readonly {
    product: string;
    protection: ProtectionState;
    statuses: Readonly<Record<string, number | null>>;
  }[];
  changed: boolean;
}

export interface ReleaseStoreMaintenance {
  /** @param force even if nothing is due (`aos store regenerate`) */
  run(force?: boolean): Promise<ReleaseStoreState>;
}

export const RELEASE_STORE = token<ReleaseStoreMaintenance>('releases.store');

/** Re-signs after a rotation of the release key (contract 40, files). */
export interface ReleaseSigning {
  /** Signs all releases that are not withdrawn, and statements. */
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
  message: string;
  files: string[];
}

export interface BuildCommits {
  /** `git log` range such as `1.3.0..HEAD`, or null. */
  range: string | null;
  /** Newest first. */
  commits: BuildCommit[];
  truncated: boolean;
}

/** Commits of each version. */
export interface BuildHistory {
  /** Truncates and scrubs. Resolves after the commit. */
  save(project: string, version: string, given: BuildCommits): Promise<BuildCommits>;
  find(project: string, version: string): Promise<BuildCommits | null>;
}

export interface ProjectPublish {
  project: string;
  version: string;
  published_at: string;
}

/** Publishes known to the bug tracker. */
export interface PublishedVersions {
  /**
   * The latest 40, newest first.
   * @param project null: all
   */
  listLatestPublishes(project: string | null, since: string): Promise<ProjectPublish[]>;
  /** @param version in any spelling */
  isPublished(project: string, version: string): Promise<boolean>;
  /**
   * Newest first.
   * @param version only this one
   */
  listPublishes(project: string, version?: string): Promise<readonly { version: string; published_at: string }[]>;
}

export const PUBLISHED_VERSIONS = token<PublishedVersions>('bugs.published_versions');

export const BUILD_HISTORY = token<BuildHistory>('bugs.build_history');
