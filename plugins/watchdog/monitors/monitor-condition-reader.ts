/**
 * For public pages (ports/domain/watchdog.ts), level by level through indexes, so the cost depends
 * on what is shown.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { ConditionQuery, MonitorCondition, MonitorConditionList } from '../../../ports/domain/watchdog.js';
import type { Filter, FindQuery, Page, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { getMonitorId } from '../model/monitor-id.js';
import type { MonitorDoc } from '../model/documents.js';
import { DAY_SECONDS, getDailyUptime } from '../model/uptime.js';
import type { Clock } from '../../../ports/clock.js';

const BATCH_SIZE = 500;

interface ConditionRead {
  now: number;
  days: number;
  most: number;
}

@injectable()
export class MonitorConditionReader {
  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /** One more than the limit shows whether some are left out. */
  async findConditions({ sources, subtrees, project, days, limit }: ConditionQuery): Promise<MonitorConditionList> {
    const reading = { now: this.clock.now(), days, most: limit + 1 };
    const found = new Map<string, MonitorCondition>();
    const named = [...new Set([...sources, ...subtrees])].map(getMonitorId);
    const take = (rows: readonly MonitorCondition[]): void => {
      for (const row of rows) if (!found.has(row.source)) found.set(row.source, row);
    };
    for (let i = 0; i < named.length && found.size <= limit; i += BATCH_SIZE) {
      take(await this.#read({ id: { in: named.slice(i, i + BATCH_SIZE) }, deleted_at: null }, 'id', reading));
    }
    const reached = new Set<string>();
    let level = [...subtrees];
    while (level.length > 0 && found.size <= limit) {
      const next: string[] = [];
      for (let i = 0; i < level.length && found.size <= limit; i += BATCH_SIZE) {
        const filter = { parent_source: { in: level.slice(i, i + BATCH_SIZE) }, deleted_at: null };
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

  async #read(filter: Filter, by: string, { now, days, most }: ConditionRead): Promise<MonitorCondition[]> {
    const rows: MonitorCondition[] = [];
    const sort: FindQuery['sort'] =
      by === 'id'
        ? [['id', 'asc']]
        : [
            [by, 'asc'],
            ['source', 'asc'],
          ];
    let after: string | null = null;
    do {
      const page: Page<MonitorDoc> = await this.monitors.find({ filter, sort, limit: BATCH_SIZE, after });
      rows.push(...page.items.map((doc) => toCondition(doc, now, days)));
      after = page.next;
    } while (after !== null && rows.length < most);
    return rows;
  }
}

function toCondition(doc: MonitorDoc, now: number, days: number): MonitorCondition {
  const { source, name, parent_source, state, project } = doc;
  const known = getDailyUptime(doc, now, days).days.map(({ at, up_seconds, warning_seconds, down_seconds }) => ({
    day: at / (DAY_SECONDS * 1000),
    watched: up_seconds + warning_seconds + down_seconds,
    warning: warning_seconds,
    down: down_seconds,
  }));
  const first = known.findIndex(({ watched }) => watched > 0);
  const marked = first < 0 ? [] : known.slice(first).filter((one) => !isUpThroughout(one));
  return {
    source,
    name,
    parent_source,
    project,
    public: doc.public,
    state,
    first_day: known[first]?.day ?? null,
    days: marked.map(({ day, watched, warning, down }) => [day, watched, warning, down]),
  };
}

const isUpThroughout = ({ watched, warning, down }: { watched: number; warning: number; down: number }): boolean =>
  watched === DAY_SECONDS && warning === 0 && down === 0;
