import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Mute, Report, ReportFilter, RulePage } from '../../../ports/domain/bugs.js';
import { DEPS } from '../deps.js';

@injectable()
export class CombinedReportFilter implements ReportFilter {
  constructor(@inject(DEPS.filters) private readonly filters: () => readonly ReportFilter[]) {}

  /**
   * First match in plugin order. Synchronous unless a filter needs a promise, because most reports
   * match nothing.
   */
  findMute(report: Report): Mute | null | Promise<Mute | null> {
    return this.#matchFrom(this.filters(), 0, report);
  }

  #matchFrom(filters: readonly ReportFilter[], from: number, report: Report): Mute | null | Promise<Mute | null> {
    for (let i = from; i < filters.length; i++) {
      const mute = filters[i]?.findMute(report) ?? null;
      if (mute instanceof Promise) return mute.then((found) => found ?? this.#matchFrom(filters, i + 1, report));
      if (mute !== null) return mute;
    }
    return null;
  }

  async recordHit(ruleId: string, at: string): Promise<void> {
    await Promise.all(this.filters().map((filter) => filter.recordHit(ruleId, at)));
  }

  async listAlarmRules(): ReturnType<ReportFilter['listAlarmRules']> {
    return (await Promise.all(this.filters().map((filter) => filter.listAlarmRules()))).flat();
  }

  async findRulePage(ruleId: string): Promise<RulePage | null> {
    const pages = await Promise.all(this.filters().map((filter) => filter.findRulePage(ruleId)));
    return pages.find((page) => page !== null) ?? null;
  }
}
