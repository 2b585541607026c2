/** Whether an occurrence of a resolved or closed item is a regression (contract 20, regression). Pure. */
import { compareVersions, isVersion } from '../../../lib/versions.js';
import { versionOf, type Published } from '../item/build-names.js';

/** A fix without a build needs a while to arrive: an occurrence within this time is the old error. */
const GRACE_MS = 60_000;

export interface Fixed {
  resolved_in_build: string | null;
  resolved_at: string | null;
  closed_at: string | null;
}

export type RegressionVerdict = 'regression' | 'late' | 'counted';

/**
 * @param version of the occurrence; text outside contract 40's grammar counts as none
 * @param occurredAt milliseconds, at most the receive time
 */
export function judge(
  item: Fixed,
  version: string | null,
  occurredAt: number,
  published: Published,
): RegressionVerdict {
  const build = item.resolved_in_build;
  if (build === null) {
    const fixedAt = Date.parse(item.resolved_at ?? item.closed_at ?? '');
    return occurredAt - fixedAt > GRACE_MS ? 'regression' : 'counted';
  }
  // Nothing says that it came from an installation with the fix.
  if (version === null || !isVersion(version)) return 'late';
  const fixedIn = versionOf(build, published);
  if (fixedIn === null) return 'counted';
  return compareVersions(version, fixedIn) >= 0 ? 'regression' : 'late';
}
