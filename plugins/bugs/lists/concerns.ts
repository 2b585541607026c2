/**
 * The dashboard's first lines: the loudest of the items that need a person, with alike ones as one line, so that a
 * flood of one cause does not hide everything else. Pure.
 */
import type { ErrorGroup } from '../../../ports/domain/bugs.js';

export interface Concern {
  /** The item that was seen last. */
  item: ErrorGroup;
  /** Items of the same project, status, class and origin, this one included. */
  alike: number;
  /** Occurrences of all of them in the hours of `trend`. */
  hits: number;
  /** Per hour, oldest first. */
  trend: number[];
  last_seen_at: string;
}

/** Concerns by occurrences of the last hours, then by the time they were seen. */
export function groupConcerns(items: readonly ErrorGroup[]): Concern[] {
  const found = new Map<string, Concern>();
  for (const item of items) {
    const key = keyOf(item);
    const known = found.get(key);
    const hits = item.trend.reduce((sum, n) => sum + n, 0);
    const { last_seen_at } = item;
    if (known === undefined) {
      found.set(key, { item, alike: 1, hits, trend: item.trend, last_seen_at });
      continue;
    }
    known.alike += 1;
    known.hits += hits;
    known.trend = known.trend.map((n, i) => n + (item.trend[i] ?? 0));
    if (last_seen_at <= known.last_seen_at) continue;
    known.item = item;
    known.last_seen_at = last_seen_at;
  }
  return [...found.values()].toSorted((a, b) => b.hits - a.hits || (a.last_seen_at < b.last_seen_at ? 1 : -1));
}

/** The key of alike items. Without a class nothing shows that two items share a cause. */
function keyOf({ id, project, status, exception_class, file_path }: ErrorGroup): string {
  return exception_class === null ? id : JSON.stringify([project, status, exception_class, file_path]);
}
