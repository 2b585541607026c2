/** Which history entries the statistics count, and under which day (contract 20, endpoints: `GET /stats`). Pure. */
import type { ItemOutboxEntry } from './model.js';

export type StatKind = 'resolved' | 'regressed';

/** `resolved` counts once in a cycle: closing what was resolved is not another one. */
export function kindOf({ name, data }: Pick<ItemOutboxEntry, 'name' | 'data'>): StatKind | null {
  if (name !== 'status') return null;
  const { from, to, why } = data;
  if (to === 'resolved' || (to === 'closed' && from !== 'resolved')) return 'resolved';
  return to === 'open' && why === 'regression' ? 'regressed' : null;
}

/** `2026-11-21 resolved shop`, what the index counts; undefined when the entry is none of these. */
export function statOf(entry: ItemOutboxEntry, project: string): string | undefined {
  const kind = entry.kind === 'activity' ? kindOf(entry) : null;
  return kind === null ? undefined : `${entry.at.slice(0, 10)} ${kind} ${project}`;
}
