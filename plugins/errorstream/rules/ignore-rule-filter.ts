import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { RevisionedCache } from '../../../lib/caching/revisioned-cache.js';
import type { Mute, Report, ReportFilter, RulePage } from '../../../ports/domain/bugs.js';
import { REVISION_ID, type RevisionDoc } from './documents.js';
import { RULE_DEPS } from './deps.js';
import { HitCounter } from './hit-counter.js';
import { isActive, type IgnoreRule } from './rule.js';
import { RuleSet } from './ruleset.js';

const PAGE_SIZE = 200;

@injectable()
export class IgnoreRuleFilter implements ReportFilter {
  readonly #copy: RevisionedCache<RuleSet>;

  constructor(
    @inject(RULE_DEPS.rules) rules: Collection<IgnoreRule>,
    @inject(RULE_DEPS.revisions) revisions: Collection<RevisionDoc>,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
    @inject(RULE_DEPS.log) log: Logger,
    @inject(HitCounter) private readonly hits: HitCounter,
  ) {
    this.#copy = new RevisionedCache({
      revisions,
      id: REVISION_ID,
      read: async (before) => RuleSet.create(await collectAll(rules, { limit: PAGE_SIZE }), before, log),
      monotonic: () => clock.monotonic(),
      failed: (err) => log.error({ err }, 'the ignore rules could not be reloaded'),
    });
  }

  findMute(report: Report): Mute | null | Promise<Mute | null> {
    const set = this.#copy.get();
    return set instanceof Promise ? set.then((read) => this.#match(read, report)) : this.#match(set, report);
  }

  recordHit(ruleId: string, at: string): Promise<void> {
    return this.hits.count(ruleId, at);
  }

  async listAlarmRules(): Promise<{ rule_id: string; threshold: number; since: string }[]> {
    const now = this.clock.now();
    return (await this.listRules()).flatMap((rule) =>
      rule.alarm_threshold === null || !isActive(rule, now)
        ? []
        : [{ rule_id: rule.id, threshold: rule.alarm_threshold, since: rule.updated_at }],
    );
  }

  async findRulePage(ruleId: string): Promise<RulePage | null> {
    const rule = (await this.listRules()).find(({ id }) => id === ruleId);
    return rule === undefined
      ? null
      : { name: rule.name, href: `/ignore-rules/${ruleId}`, expires_at: rule.expires_at };
  }

  /** Lists in creation order, including those being deleted; counters may be stale. */
  async listRules(): Promise<readonly IgnoreRule[]> {
    return (await this.#copy.reload()).rules;
  }

  /**
   * Call after writing a rule. Applies here when this resolves, in other processes within two
   * seconds.
   */
  notifyChanged(): Promise<void> {
    return this.#copy.publishChange();
  }

  reload(): Promise<RuleSet> {
    return this.#copy.reload();
  }

  #match(set: RuleSet, report: Report): Mute | null | Promise<Mute | null> {
    const clock = this.clock;
    return set.match(report, clock.now(), () => clock.monotonic());
  }
}
