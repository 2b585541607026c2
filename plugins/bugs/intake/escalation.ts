/**
 * Raises an item's severity after a count, by the rate of the rolling hour or a higher error level (contract 20,
 * severity).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { DEPS, type BugDeps } from '../deps.js';
import { higherLevel, type ChangeSet } from '../item/change-set.js';
import { Items } from '../store/items.js';
import type { ItemDoc } from '../item/model.js';
import { hourCount } from '../item/rate.js';
import { rankOfRate, severityOf } from '../item/severity.js';
import { levelRank } from '../item/first-document.js';
import { isFinished } from '../item/transitions.js';
import type { IncomingReport } from './incoming-report.js';

@injectable()
export class Escalation {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
  ) {}

  /**
   * Contract 20, escalation: upwards only, never when locked. Answers the item as it is then. A higher level alone is
   * no revision; it is written last, so a crash before it leaves the escalation to the next occurrence. Call it when
   * `isDue`.
   */
  async escalate(doc: ItemDoc, incoming: IncomingReport): Promise<ItemDoc> {
    const item = await this.items.change(doc.id, 'system', (now, change) => this.#plan(now, change, incoming));
    const level = levelRank(incoming.report);
    if (level <= item.level_rank) return item;
    const update = higherLevel(level, incoming.report.error_level ?? null);
    const raised = await this.deps.items.change({ id: item.id, level_rank: { lt: level } }, update);
    return raised?.doc ?? item;
  }

  isDue(item: ItemDoc, incoming: IncomingReport): boolean {
    if (levelRank(incoming.report) > item.level_rank) return true;
    if (item.severity_locked || isFinished(item.status) || item.severity_rank === 3) return false;
    return this.#rateRank(item, incoming) > item.severity_rank;
  }

  #rateRank(item: ItemDoc, { now }: IncomingReport): number {
    const { hour_high: high, hour_critical: critical } = this.deps.config;
    return rankOfRate(hourCount(item.minutes, now), { high, critical });
  }

  #plan(item: ItemDoc, change: ChangeSet, incoming: IncomingReport): void {
    if (item.severity_locked || isFinished(item.status)) return;
    const level = levelRank(incoming.report);
    const higher = level > item.level_rank;
    const rate = this.#rateRank(item, incoming);
    const target = Math.max(rate, higher ? level : 0);
    if (target <= item.severity_rank) return;
    if (higher) change.assign({ level_rank: level, error_level: incoming.report.error_level ?? null });
    change.severity(severityOf(target), rate >= target ? 'rate' : 'error_level');
  }
}
