/**
 * Chosen monitors with everything below some of them, as a page for visitors needs them (ports/domain/watchdog.ts):
 * read level by level, by the indexes of source and parent, so that it costs what is shown and not what there is.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { ConditionQuery, MonitorCondition, MonitorConditions } from '../../../ports/domain/watchdog.js';
import { findRendered } from '../../../ports/rendering.js';
import type { Filter, Find } from '../../../ports/store.js';
import { DEPS, type WatchdogDeps } from '../deps.js';
import { idOf } from '../model/source.js';
import { CONDITION_ROW } from './condition-row.js';

const BATCH = 500;

interface Reading {
  context: { now: number; days: number };
  /** The reading ends once it has so many. */
  most: number;
}

@injectable()
export class Conditions {
  constructor(@inject(DEPS) private readonly deps: Pick<WatchdogDeps, 'monitors' | 'clock'>) {}

  /** Read until one more than the limit is found, which tells whether some are left out. */
  async of({ sources, subtrees, project, days, limit }: ConditionQuery): Promise<MonitorConditions> {
    const reading = { context: { now: this.deps.clock.now(), days }, most: limit + 1 };
    const found = new Map<string, MonitorCondition>();
    const named = [...new Set([...sources, ...subtrees])].map(idOf);
    const take = (rows: readonly MonitorCondition[]): void => {
      for (const row of rows) if (!found.has(row.source)) found.set(row.source, row);
    };
    for (let i = 0; i < named.length && found.size <= limit; i += BATCH) {
      take(await this.#read({ id: { in: named.slice(i, i + BATCH) }, deleted_at: null }, 'id', reading));
    }
    const reached = new Set<string>();
    let level = [...subtrees];
    while (level.length > 0 && found.size <= limit) {
      const next: string[] = [];
      for (let i = 0; i < level.length && found.size <= limit; i += BATCH) {
        const filter = { parent_source: { in: level.slice(i, i + BATCH) }, deleted_at: null };
        const rows = await this.#read(filter, 'parent_source', reading);
        take(rows);
        next.push(...rows.map(({ source }) => source));
      }
      for (const source of level) reached.add(source);
      level = next.filter((source) => !reached.has(source));
    }
    const shown = [...found.values()].slice(0, limit).filter((row) => project === null || row.project === project);
    return { monitors: shown, complete: found.size <= limit };
  }

  async #read(filter: Filter, by: string, { context, most }: Reading): Promise<MonitorCondition[]> {
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
    } while (after !== null && rows.length < most);
    return rows;
  }
}
