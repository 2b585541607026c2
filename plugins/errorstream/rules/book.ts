/**
 * Compiled ignore rules of this process, as a report filter of the bug tracker
 * (ports/domain/bugs.ts).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import { RevisedCopy } from '../../../lib/caching/revised-copy.js';
import type { Mute, Report, ReportFilter } from '../../../ports/domain/bugs.js';
import { BOOK_ID } from './documents.js';
import { RULE_DEPS, type RuleDeps } from './deps.js';
import { Hits } from './hits.js';
import { isActive, type IgnoreRule } from './rule.js';
import { RuleSet } from './ruleset.js';

const PAGE = 200;

@injectable()
export class RuleBook implements ReportFilter {
  readonly #copy: RevisedCopy<RuleSet>;

  constructor(
    @inject(RULE_DEPS) private readonly deps: RuleDeps,
    @inject(Hits) private readonly hits: Hits,
  ) {
    const { revisions, rules, clock, log } = deps;
    this.#copy = new RevisedCopy({
      revisions,
      id: BOOK_ID,
      read: async (before) => RuleSet.of(await all(rules, { limit: PAGE }), before, log),
      monotonic: () => clock.monotonic(),
      failed: (err) => log.error({ err }, 'the ignore rules could not be read again'),
    });
  }

  match(report: Report): Mute | null | Promise<Mute | null> {
    const set = this.#copy.get();
    return set instanceof Promise ? set.then((read) => this.#match(read, report)) : this.#match(set, report);
  }

  hit(ruleId: string, at: string): Promise<void> {
    return this.hits.add(ruleId, at);
  }

  async watched(): Promise<{ rule_id: string; threshold: number; since: string }[]> {
    const now = this.deps.clock.now();
    return (await this.all()).flatMap((rule) =>
      rule.alarm_threshold === null || !isActive(rule, now)
        ? []
        : [{ rule_id: rule.id, threshold: rule.alarm_threshold, since: rule.updated_at }],
    );
  }

  async page(ruleId: string): Promise<string | null> {
    const known = (await this.all()).some((rule) => rule.id === ruleId);
    return known ? `/ignore-rules/${ruleId}` : null;
  }

  /** Returns all rules in creation order, including those being deleted. Counters may be stale. */
  async all(): Promise<readonly IgnoreRule[]> {
    return (await this.#copy.reload()).rules;
  }

  /**
   * Call after writing a rule. The change applies here when this resolves, and in other processes
   * within two seconds.
   */
  changed(): Promise<void> {
    return this.#copy.changed();
  }

  reload(): Promise<RuleSet> {
    return this.#copy.reload();
  }

  #match(set: RuleSet, report: Report): Mute | null | Promise<Mute | null> {
    const { clock } = this.deps;
    return set.match(report, clock.now(), () => clock.monotonic());
  }
}
