/**
 * A version of contract 40's grammar, or a release's build name. An index finds items by build:
 * `1.2.0` becomes `1.2`.
 */
import { invalid } from '../../../kernel/errors.js';
import type { Report } from '../../../ports/domain/bugs.js';
import type { ItemDoc } from './model.js';
import {
  compareNamedVersions,
  isVersion,
  parseNamedVersion,
  getVersionIdentity,
  getVersionName,
} from '../../../lib/versions.js';

type StatedVersion = Pick<Report, 'app_version' | 'build_number'>;

export type PublishedReleases = readonly { version: string; build: string | null; publication?: string }[];

export const toBuildKey = (project: string, build: string): string => `${project} ${getVersionIdentity(build)}`;

/** Returns null if the build is neither a version nor a known build name. */
export function resolveVersion(build: string, published: PublishedReleases): string | null {
  const { name, version } = parseNamedVersion(build);
  if (version !== null) return name;
  return published.find((release) => release.build !== null && getVersionName(release.build) === name)?.version ?? null;
}

export function findRelease(build: string, published: PublishedReleases): PublishedReleases[number] | undefined {
  const wanted = getVersionIdentity(build);
  return published.find(
    (r) => getVersionIdentity(r.version) === wanted || (r.build !== null && getVersionIdentity(r.build) === wanted),
  );
}

const BUILD_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/**
 * `shop@v1.4.0` becomes 1.4.0 (contract 20, transitions).
 * @throws ServiceError validation_failed for what names neither a version nor a build
 */
export function parseBuildName(given: string): string {
  const build = getVersionName(given);
  if (isVersion(build) || BUILD_NAME.test(build)) return build;
  throw invalid({
    resolved_in_build: 'must be a version such as 1.4.0, or a build name of letters, digits and . _ + - (at most 64)',
  });
}

/** Returns false if the versions cannot be compared. */
export function isAtOrBelow(version: string | null, seen: string | null): boolean {
  if (version === null || seen === null) return false;
  const order = compareNamedVersions(version, seen);
  if (order !== 0) return order !== null && order < 0;
  // Without its own build number, the sighting may be an earlier build of the same version.
  return parseNamedVersion(version).number === null || parseNamedVersion(seen).number !== null;
}

type SeenBuilds = Pick<ItemDoc, 'first_build' | 'first_numbered' | 'last_build' | 'last_numbered'>;

export const getFirstSeenBuild = (item: SeenBuilds): string | null =>
  appendBuildNumber(item.first_build, item.first_numbered);
export const getLastSeenBuild = (item: SeenBuilds): string | null =>
  appendBuildNumber(item.last_build, item.last_numbered);

/** @param numbered last version with a separate build number */
const appendBuildNumber = (version: string | null, numbered: string | undefined): string | null =>
  version !== null && numbered?.startsWith(`${version}+`) === true ? numbered : version;

export const formatReportedVersion = ({ app_version, build_number }: StatedVersion): string | null =>
  app_version && build_number ? `${app_version}+${build_number}` : (app_version ?? null);

/**
 * @param version that a fix names
 * @param first in which the error was seen
 * @throws ServiceError validation_failed
 */
export function checkAboveFirstSeen(version: string | null, first: string | null): void {
  if (isAtOrBelow(version, first))
    throw invalid({ resolved_in_build: `must be above ${first}, in which it was first seen` });
}
