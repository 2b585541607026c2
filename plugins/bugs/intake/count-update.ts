/** The write that counts an occurrence: no state, only counters and marks, so that it may be made blindly. Pure. */
import { isoOf } from '../../../lib/time.js';
import type { Update } from '../../../ports/store.js';
import { notes, type IncomingReport } from './incoming-report.js';
import { statedVersion } from '../item/build-names.js';
import { hourKey, minuteKey } from '../item/rate.js';

/**
 * The update that counts an occurrence.
 * @param stamp the item's `updated_at`
 * @param late the occurrence names a version below the one that fixed the error
 */
export function countUpdate(incoming: IncomingReport, stamp: string, late = false): Update {
  const { report, now, occurred, ref } = incoming;
  const seen = isoOf(occurred);
  const update: Update = {
    inc: { hit_count: 1, [`minutes.${minuteKey(now)}`]: 1, [`hours.${hourKey(now)}`]: 1 },
    max: { updated_at: stamp, last_seen_at: seen },
    min: { first_seen_at: seen },
    set: {},
  };
  if (incoming.flooded) update.inc = { ...update.inc, flooded: 1 };
  if (late) update.inc = { ...update.inc, late_count: 1 };
  if (typeof report.app_version === 'string') update.set = { last_build: report.app_version };
  if (report.build_number) update.set = { ...update.set, last_numbered: statedVersion(report) };
  if (notes(ref)) update.set = { ...update.set, [`inflight.${ref.id}`]: 1 };
  return update;
}

/**
 * The count drops notes that are not needed any more (client-refs.ts), aside from those that it writes itself: a
 * reference begins anew where its item was deleted, and the count meets that only when it is written.
 */
export function dropping(count: Update, paths: readonly string[]): Update {
  const unset = paths.filter((path) => count.set?.[path] === undefined);
  return unset.length === 0 ? count : { ...count, unset };
}
