import { inject, injectable } from '../../../kernel/contract.js';
import type { Mute, Report, ReportFilter } from '../../../ports/domain/bugs.js';
import { DEPS, type BugDeps } from '../deps.js';

@injectable()
export class ReportFilters implements ReportFilter {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'filters'>) {}

  /**
   * Returns the mute of the first matching filter, in plugin order. Synchronous unless a filter
   * needs a promise, because most reports match nothing.
   */
  match(report: Report): Mute | null | Promise<Mute | null> {
    return this.#ask(this.deps.filters(), 0, report);
  }

  #ask(filters: readonly ReportFilter[], from: number, report: Report): Mute | null | Promise<Mute | null> {
    for (let i = from; i < filters.length; i++) {
      const mute = filters[i]?.match(report) ?? null;
      if (mute instanceof Promise) return mute.then((found) => found ?? this.#ask(filters, i + 1, report));
      if (mute !== null) return mute;
    }
    return null;
  }

  async hit(ruleId: string, at: string): Promise<void> {
    await Promise.all(this.deps.filters().map((filter) => filter.hit(ruleId, at)));
  }

  async watched(): ReturnType<ReportFilter['watched']> {
    return (await Promise.all(this.deps.filters().map((filter) => filter.watched()))).flat();
  }

  async page(ruleId: string): Promise<string | null> {
    const pages = await Promise.all(this.deps.filters().map((filter) => filter.page(ruleId)));
    return pages.find((page) => page !== null) ?? null;
  }
}
