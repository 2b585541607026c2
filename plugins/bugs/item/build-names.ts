/**
 * Builds as items name them: a version of contract 40's grammar, or a release's build name. Pure.
 *
 * An index finds the items that a publish closes, so equal versions need one text: `1.2` and `1.2.0` both become `1.2`.
 */
import { invalid } from '../../../kernel/errors.js';
import { canonicalVersion, compareVersions, isVersion } from '../../../lib/versions.js';

/** Releases of one project that are offered. */
export type Published = readonly { version: string; build: string | null; publication?: string }[];

/** The one spelling of a version (no leading zeros, no trailing zero segments); other text stays as it is. */
export function canonical(build: string): string {
  const text = build.trim();
  return isVersion(text) ? canonicalVersion(text) : text;
}

/** The key by which the index finds items that wait for a build. */
export const buildKey = (project: string, build: string): string => `${project} ${canonical(build)}`;

/** The version that a `resolved_in_build` names: its own, or that of the release with this build name; else null. */
export function versionOf(build: string, published: Published): string | null {
  if (isVersion(build.trim())) return build.trim();
  return published.find((release) => release.build === build)?.version ?? null;
}

/** The release whose version equals the build, or that was published under this build name; undefined: none. */
export function releaseOf(build: string, published: Published): Published[number] | undefined {
  const wanted = canonical(build);
  return published.find((r) => canonical(r.version) === wanted || (r.build !== null && canonical(r.build) === wanted));
}

/** A release's build name, as `resolved_in_build` may give it. */
const BUILD_NAME = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$/;

/**
 * A build as it is stored: `shop@v1.4.0` names 1.4.0 (contract 20, transitions).
 * @throws ServiceError validation_failed for what names neither a version nor a build
 */
export function storedBuild(given: string): string {
  const text = given.trim().replace(/^.*@/s, '');
  const build = text.replace(/^[vV](?=\d)/, '');
  if (isVersion(build) || BUILD_NAME.test(build)) return build;
  throw invalid({
    resolved_in_build: 'must be a version such as 1.4.0, or a build name of letters, digits and . _ + - (at most 64)',
  });
}

/** Whether a version is at or below the one in which the error was seen; false where they cannot be compared. */
export const isSeenIn = (version: string | null, seen: string | null): boolean =>
  version !== null && seen !== null && isVersion(seen.trim()) && compareVersions(version, seen.trim()) <= 0;

/** @param version that a fix names @param first in which the error was seen. @throws ServiceError validation_failed */
export function checkAbove(version: string | null, first: string | null): void {
  if (isSeenIn(version, first))
    throw invalid({ resolved_in_build: `must be above ${first}, in which it was seen first` });
}
