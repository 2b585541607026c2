/**
 * What the update service offers the others (contract 40), and its events: `release.published` closes bug items
 * (contract 20).
 */
import { event, token } from '../token.js';

export interface ReleasePublished {
  product: string;
  version: string;
  /** The build name given at publishing, which `resolved_in_build` may name instead of the version. */
  build: string | null;
  channel: string;
  platform: string;
  signed: boolean;
  /** The first 100 closed items' ids. */
  closed_items: readonly string[];
  closed_count: number;
}

export const RELEASE_PUBLISHED = event<ReleasePublished>('release.published');

/** A rollout stopped by itself (contract 40, staged rollout). */
export interface ReleaseHalted {
  product: string;
  version: string;
  channel: string;
  platform: string;
  reason: string;
}

export const RELEASE_HALTED = event<ReleaseHalted>('release.halted');

/** What the setup service shows before an installation (contract 60, catalog). */
export interface CatalogChannel {
  channel: string;
  version: string;
  platform: string;
  published_at: string;
  /** Bytes. */
  package_size: number;
  signed: boolean;
  /** The package's manifest names a runtime: `{name, version}`; null: it needs none. */
  runtime: { name: string; version: string } | null;
  has_setup: boolean;
}

export interface ReleaseDirectory {
  /** The newest release of each channel that a machine of this platform may install: exact platform, else `any`. */
  channels(product: string, platform: string): Promise<CatalogChannel[]>;
  /** Products with a release that is not withdrawn. */
  products(): Promise<string[]>;
}

export const RELEASES = token<ReleaseDirectory>('releases.directory');

export type Protection = 'protected' | 'open' | 'inconclusive' | 'no_packages' | 'not_tested';

/** The tick's part of the release store: access files when they are due, then the self-test (contract 90, tick). */
export interface ReleaseStoreState {
  protection: Protection;
  /** Products whose files were written in this run. */
  regenerated: readonly string[];
  last_selftest_at: string | null;
  /** What each product's self-test saw. */
  products: readonly { product: string; protection: Protection; statuses: Readonly<Record<string, number | null>> }[];
  /** The result differs from the one before. */
  changed: boolean;
}

export interface ReleaseStoreCare {
  /** @param force regenerate although nothing is due (`aos store regenerate`) */
  care(force?: boolean): Promise<ReleaseStoreState>;
}

export const RELEASE_STORE = token<ReleaseStoreCare>('releases.store');

/** After a rotation of the release key (contract 40, files). */
export interface ReleaseSigning {
  /** Signs by the key in use what an earlier one has signed: releases that are not withdrawn, and statements. */
  resign(): Promise<{ releases: number }>;
}

export const RELEASE_SIGNING = token<ReleaseSigning>('releases.signing');

/** A commit, in the words of git. Its texts come from whoever wrote it. */
export interface BuildCommit {
  /** The hash, hex. */
  id: string;
  author_name: string | null;
  /** RFC 3339 in UTC; null: not known. */
  timestamp: string | null;
  /** The first line. */
  message: string;
  /** Paths from the root of the repository, with slashes. */
  files: string[];
}

export interface BuildCommits {
  /** As `git log` was asked, such as `1.3.0..HEAD`; null: not said. */
  range: string | null;
  /** Newest first. */
  commits: BuildCommit[];
  /** There were more commits, or longer ones, than are kept. */
  truncated: boolean;
}

/** What the bug tracker keeps of them, so that an item can name who may have brought its error. */
export interface BuildHistory {
  /** Takes the place of what was kept of the version; cut to what is kept, and scrubbed. Resolves after the commit. */
  keep(project: string, version: string, given: BuildCommits): Promise<BuildCommits>;
  /** Null: nobody told them. */
  of(project: string, version: string): Promise<BuildCommits | null>;
}

/** What the bug tracker knows of publishes, for those that the update service itself depends on. */
export interface PublishedVersions {
  /** Whether a version of the project was published, and is not withdrawn. @param version in any spelling */
  isPublished(project: string, version: string): Promise<boolean>;
  /** Versions with the time of their first publish, newest first. @param version only this one */
  publishes(project: string, version?: string): Promise<readonly { version: string; published_at: string }[]>;
}

export const PUBLISHED_VERSIONS = token<PublishedVersions>('bugs.published_versions');

export const BUILD_HISTORY = token<BuildHistory>('bugs.build_history');
