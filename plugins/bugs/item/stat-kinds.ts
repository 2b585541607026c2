/**
 * Which entries count in the statistics, and on which day (contract 20, endpoints: `GET /stats`).
 */
import type { ItemOutboxEntry } from './model.js';

export type StatKind = 'resolved' | 'regressed';

/** `resolved` counts once per cycle: closing a resolved item does not count. */
export function getStatKind({ name, data }: Pick<ItemOutboxEntry, 'name' | 'data'>): StatKind | null {
  if (name !== 'status') return null;
  const { from, to, why } = data;
  if (to === 'resolved' || (to === 'closed' && from !== 'resolved')) return 'resolved';
  return to === 'open' && why === 'regression' ? 'regressed' : null;
}

/** Such as `2026-11-21 resolved shop`; undefined if not counted. */
export function toStatKey(entry: ItemOutboxEntry, project: string): string | undefined {
  const kind = entry.kind === 'activity' ? getStatKind(entry) : null;
  return kind === null ? undefined : `${entry.at.slice(0, 10)} ${kind} ${project}`;
}
