import { toIsoString, SECOND_MS } from '../../../lib/time.js';
import type { VersionItem } from '../../../ports/domain/bugs.js';
import { findHaltEvidence } from '../publishing/halt-evidence.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

const MAX_SHOWN_ISSUES = 20;

export interface ShownFaults {
  items: VersionItem[];
  all: number;
  /** Those that may halt the rollout: since it was set, within the window. */
  now: number;
  allowed: number;
  /** Seconds. */
  window: number;
  since: string;
  href: string;
  /** All issues seen in this version. */
  seen_href: string;
}

export async function listShownFaults(
  deps: Pick<ReleaseDeps, 'faults' | 'config' | 'clock' | 'health'>,
  release: ReleaseDoc,
): Promise<ShownFaults | undefined> {
  const { faults, config, clock } = deps;
  const { product, version, published_at, rollout_at } = release;
  const counted = faults();
  if (counted === undefined) return undefined;
  const windowAt = toIsoString(clock.now() - config.halt_window_seconds * SECOND_MS);
  const since = windowAt > rollout_at ? windowAt : rollout_at;
  const evidence = await findHaltEvidence(deps, release, since);
  const [items, all, now] = await Promise.all([
    counted.list(product, version, published_at, evidence, MAX_SHOWN_ISSUES),
    counted.count(product, version, published_at, evidence),
    counted.count(product, version, since, evidence),
  ]);
  const allowed = config.halt_after;
  const href = `/bugs?project=${encodeURIComponent(product)}&type=error&status=open`;
  const seen_href = `/bugs?${new URLSearchParams({ project: product, version }).toString()}`;
  return { items, all, now, allowed, window: config.halt_window_seconds, since, href, seen_href };
}
