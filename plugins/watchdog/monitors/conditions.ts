/**
 * Chosen monitors with everything below some of them, as a page for visitors needs them (ports/domain/watchdog.ts):
 * read level by level, by the indexes of source and parent, so that it costs what is shown and not what there is.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ConditionQuery, MonitorCondition } from '../../../ports/domain/watchdog.js';
import { findRendered } from '../../../ports/rendering.js';
import type { Filter, Find } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import { idOf } from '../model/source.js';
import { CONDITION_ROW } from './condition-row.js';

const BATCH = 500;

@injectable()
export class Conditions {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'monitors' | 'clock'>) {}

  /** Each once, in no order. */
  async of({ sources, subtrees, project, days, limit }: ConditionQuery): Promise<MonitorCondition[]> {
    const context = { now: this.deps.clock.now(), days };
    const found = new Map<string, MonitorCondition>();
    const named = [...new Set([...sources, ...subtrees])].map(idOf);
    const take = (rows: readonly MonitorCondition[]): MonitorCondition[] => {
      const fresh = rows.filter((row) => !found.has(row.source));
      for (const row of fresh) found.set(row.source, row);
      return fresh;
    };
    for (let i = 0; i < named.length; i += BATCH) {
      take(await this.#read({ id: { in: named.slice(i, i + BATCH) }, deleted_at: null }, 'id', context));
    }
    const reached = new Set<string>();
    let level = [...subtrees];
    while (level.length > 0 && found.size < limit) {
      const next: string[] = [];
      for (let i = 0; i < level.length && found.size < limit; i += BATCH) {
        const filter = { parent_source: { in: level.slice(i, i + BATCH) }, deleted_at: null };
        const rows = await this.#read(filter, 'parent_source', context);
        take(rows);
        next.push(...rows.map(({ source }) => source));
      }
      for (const source of level) reached.add(source);
      level = next.filter((source) => !reached.has(source));
    }
    return [...found.values()].filter((row) => project === null || row.project === project).slice(0, limit);
  }

  async #read(filter: Filter, by: string, context: { now: number; days: number }): Promise<MonitorCondition[]> {
    const rows: MonitorCondition[] = [];
    const sort: Find['sort'] =
      by === 'id'
        ? [['id', 'asc']]
        : [
            [by, 'asc'],
            ['source', 'asc'],
          ];
    let after: string | null = null;
    do {
      const page: { json: string | Uint8Array; next: string | null } = await findRendered(
        this.deps.monitors,
        { filter, sort, limit: BATCH, after },
        { ...CONDITION_ROW, context },
      );
      const text = typeof page.json === 'string' ? page.json : Buffer.from(page.json).toString();
      rows.push(...(JSON.parse(text) as MonitorCondition[]));
      after = page.next;
    } while (after !== null);
    return rows;
  }
}
