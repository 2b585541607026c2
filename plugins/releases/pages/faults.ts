/** What the error stream counted against a version, as its page shows it: what the rollout is halted by. */
import { isoOf, SECOND_MS } from '../../../lib/time.js';
import type { ReleaseDeps } from '../deps.js';
import type { ReleaseDoc } from '../model.js';

export interface ShownFaults {
  /** New groups and regressions since the publish. */
  all: number;
  /** Those that a rollout is judged by: since it was set, within the window. */
  now: number;
  allowed: number;
  /** Seconds. */
  window: number;
  since: string;
  href: string;
}

/** Undefined where nobody counts errors. */
export async function faultsOf(
  { faults, config, clock }: Pick<ReleaseDeps, 'faults' | 'config' | 'clock'>,
  { product, version, published_at, rollout_at }: ReleaseDoc,
): Promise<ShownFaults | undefined> {
  const counted = faults();
  if (counted === undefined) return undefined;
  const windowAt = isoOf(clock.now() - config.halt_window_seconds * SECOND_MS);
  const since = windowAt > rollout_at ? windowAt : rollout_at;
  const [all, now] = await Promise.all([
    counted.count(product, version, published_at),
    counted.count(product, version, since),
  ]);
  const allowed = config.halt_after;
  const href = `/bugs?project=${encodeURIComponent(product)}&type=error&status=open`;
  return { all, now, allowed, window: config.halt_window_seconds, since, href };
}
