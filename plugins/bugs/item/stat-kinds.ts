/** Which history entries the statistics count, and under which day (contract 20, endpoints: `GET /stats`). Pure. */
import type { ItemOutboxEntry } from './model.js';

export type StatKind = 'resolved' | 'regressed';

/**
 * The kind of an entry for the statistics. `resolved` counts once in a cycle: closing a resolved item does not count.
 */
export function getStatKind({ name, data }: Pick<ItemOutboxEntry, 'name' | 'data'>): StatKind | null {
  if (name !== 'status') return null;
  const { from, to, why } = data;
  if (to === 'resolved' || (to === 'closed' && from !== 'resolved')) return 'resolved';
  return to === 'open' && why === 'regression' ? 'regressed' : null;
}

/** The key that the index counts, `2026-11-21 resolved shop`; undefined for an entry that does not count. */
export function toStatKey(entry: ItemOutboxEntry, project: string): string | undefined {
  const kind = entry.kind === 'activity' ? getStatKind(entry) : null;
  return kind === null ? undefined : `${entry.at.slice(0, 10)} ${kind} ${project}`;
}
