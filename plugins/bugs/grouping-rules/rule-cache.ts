import { inject, injectable } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { collectAll } from '../../../lib/paging.js';
import { RevisionedCache } from '../../../lib/caching/revisioned-cache.js';
import { DEPS } from '../deps.js';
import type { GroupingInput } from '../grouping/grouping-key.js';
import type { RuleOutcome } from './compiled-rule.js';
import { REVISION_ID, type GroupingRule, type RuleListDoc, type RuleRevisionDoc } from '../grouping/grouping-rule.js';
import { GroupingRuleSet } from './rule-set.js';
import { RuleSubject } from './rule-subject.js';
import type { GroupingSettings } from '../grouping/grouping-settings.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';
import type { Collection } from '../../../ports/store/index.js';

const PAGE_SIZE = 100;
const MAX_COMPILED_PROJECTS = 500;

type RuleLists = ReadonlyMap<string, RuleListDoc>;

@injectable()
export class GroupingRuleCache {
  readonly #copy: RevisionedCache<RuleLists>;
  readonly #compiled = new BoundedMap<GroupingRuleSet>({ most: MAX_COMPILED_PROJECTS });

  constructor(
    @inject(DEPS.ruleLists) ruleLists: Collection<RuleListDoc>,
    @inject(DEPS.ruleRevisions) ruleRevisions: Collection<RuleRevisionDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.grouping) private readonly grouping: GroupingSettings,
  ) {
    this.#copy = new RevisionedCache<RuleLists>({
      revisions: ruleRevisions,
      id: REVISION_ID,
      read: async () => new Map((await collectAll(ruleLists, { limit: PAGE_SIZE })).map((list) => [list.id, list])),
      monotonic: () => clock.monotonic(),
      failed: (err) => log.error({ err }, 'the grouping rules could not be reloaded'),
    });
  }

  /** Returns no promise when the cache is fresh and matching is fast. */
  evaluate(report: GroupingInput): RuleOutcome | null | Promise<RuleOutcome | null> {
    const lists = this.#copy.get();
    return lists instanceof Promise
      ? lists.then((read) => this.#evaluate(read, report))
      : this.#evaluate(lists, report);
  }

  listCached(project: string): readonly GroupingRule[] {
    return this.#copy.current?.get(project)?.rules ?? [];
  }

  find(id: string): { project: string; rule: GroupingRule } | null {
    for (const { id: project, rules } of this.#copy.current?.values() ?? []) {
      const rule = rules.find((one) => one.id === id);
      if (rule !== undefined) return { project, rule };
    }
    return null;
  }

  get size(): number {
    return [...(this.#copy.current?.values() ?? [])].reduce((sum, { rules }) => sum + rules.length, 0);
  }

  /** Call after writing rules. Active here when this resolves, elsewhere within two seconds. */
  publishChange(): Promise<void> {
    return this.#copy.publishChange();
  }

  async reload(): Promise<void> {
    await this.#copy.reload();
  }

  #evaluate(lists: RuleLists, report: GroupingInput): RuleOutcome | null | Promise<RuleOutcome | null> {
    const list = lists.get(report.project);
    if (list === undefined || list.rules.length === 0) return null;
    const { clock, grouping } = this;
    return this.#getRuleSet(list).evaluate(new RuleSubject(report, grouping.masks), () => clock.monotonic());
  }

  #getRuleSet(list: RuleListDoc): GroupingRuleSet {
    const name = `${list.id} ${list.rev}`;
    const before = this.#compiled.get(name);
    if (before !== undefined) return before;
    const made = GroupingRuleSet.compile(list.rules, this.log);
    this.#compiled.set(name, made);
    return made;
  }
}
