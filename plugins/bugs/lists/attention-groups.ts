/** So that a flood with one cause does not hide everything else. */
import type { ErrorGroup } from '../../../ports/domain/bugs.js';

export interface AttentionGroup {
  item: ErrorGroup;
  alike: number;
  /** Of all of them, in the hours of `trend`. */
  hits: number;
  trend: number[];
  last_seen_at: string;
}

export function groupByCause(items: readonly ErrorGroup[]): AttentionGroup[] {
  const found = new Map<string, AttentionGroup>();
  for (const item of items) {
    const key = toCauseKey(item);
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

function toCauseKey({ id, project, status, exception_class, file_path }: ErrorGroup): string {
  return exception_class === null ? id : JSON.stringify([project, status, exception_class, file_path]);
}
