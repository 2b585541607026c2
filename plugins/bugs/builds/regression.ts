import { compareNamedVersions } from '../../../lib/versions.js';
import { resolveVersion, type PublishedReleases } from '../item/build-names.js';

/** Time to deploy a fix without a build; occurrences within it count as the old error. */
const GRACE_MS = 60_000;

export interface FixedItem {
  resolved_in_build: string | null;
  resolved_at: string | null;
  closed_at: string | null;
}

export type RegressionVerdict = 'regression' | 'late' | 'counted';

/**
 * Decides whether an occurrence of a resolved or closed item is a regression (contract 20,
 * regression).
 * @param version of the occurrence; a text outside contract 40's grammar equals only itself
 * @param occurredAt in milliseconds, at most the receive time
 */
export function evaluateRegression(
  item: FixedItem,
  version: string | null,
  occurredAt: number,
  published: PublishedReleases,
): RegressionVerdict {
  const build = item.resolved_in_build;
  if (build === null) {
    const fixedAt = Date.parse(item.resolved_at ?? item.closed_at ?? '');
    return occurredAt - fixedAt > GRACE_MS ? 'regression' : 'counted';
  }
  // It may come from an installation without the fix.
  if (version === null) return 'late';
  if (compareNamedVersions(version, build) === 0) return 'regression';
  const seenIn = resolveVersion(version, published);
  if (seenIn === null) return 'late';
  const fixedIn = resolveVersion(build, published);
  const order = fixedIn === null ? null : compareNamedVersions(seenIn, fixedIn);
  if (order === null) return 'counted';
  return order >= 0 ? 'regression' : 'late';
}
