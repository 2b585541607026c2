/**
 * Builds as items name them: a version of contract 40's grammar, or a release's build name. Pure.
 *
 * An index finds the items that a publish closes, so equal versions need one text: `1.2` and `1.2.0` both become `1.2`.
 */
import { canonicalVersion, isVersion } from '../../../lib/versions.js';

/** Releases of one project that are offered. */
export type Published = readonly { version: string; build: string | null; publication?: string }[];

/** The one spelling of a version (no leading zeros, no trailing zero segments); other text stays as it is. */
export function canonical(build: string): string {
  const text = build.trim();
  return isVersion(text) ? canonicalVersion(text) : text;
}

/** Where the index looks for items that wait for a build. */
export const buildKey = (project: string, build: string): string => `${project} ${canonical(build)}`;

/** The version that a `resolved_in_build` names: its own, or that of the release with this build name; else null. */
export function versionOf(build: string, published: Published): string | null {
  if (isVersion(build.trim())) return build.trim();
  return published.find((release) => release.build === build)?.version ?? null;
}

/**
 * The release whose version equals the build, or that was published under this build name; undefined: there is none.
 */
export function releaseOf(build: string, published: Published): Published[number] | undefined {
  const wanted = canonical(build);
  return published.find((r) => canonical(r.version) === wanted || (r.build !== null && canonical(r.build) === wanted));
}
