/**
 * This process's copy of all grouping rules. The rules of a project are compiled when its first report asks for them: a
 * report of a project without rules costs a look-up in a map.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { all } from '../../../lib/paging.js';
import { RevisedCopy } from '../../../lib/caching/revised-copy.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { GroupingInput } from '../grouping/key.js';
import type { Ruling } from './compiled-rule.js';
import { REVISION_ID, type GroupingRule, type RuleListDoc } from '../grouping/grouping-rule.js';
import { GroupingRuleSet } from './rule-set.js';
import { RuleSubject } from './subject.js';

const PAGE = 100;
/** Projects whose rules are kept compiled. */
const COMPILED = 500;

type RuleLists = ReadonlyMap<string, RuleListDoc>;

@injectable()
export class GroupingRuleBook {
  readonly #copy: RevisedCopy<RuleLists>;
  readonly #compiled = new BoundedMap<GroupingRuleSet>({ most: COMPILED });

  constructor(
    @inject(DEPS)
    private readonly deps: Pick<BugDeps, 'ruleLists' | 'ruleRevisions' | 'clock' | 'log' | 'grouping'>,
  ) {
    const { ruleLists, ruleRevisions, clock, log } = deps;
    this.#copy = new RevisedCopy<RuleLists>({
      revisions: ruleRevisions,
      id: REVISION_ID,
      read: async () => new Map((await all(ruleLists, { limit: PAGE })).map((list) => [list.id, list])),
      monotonic: () => clock.monotonic(),
      failed: (err) => log.error({ err }, 'the grouping rules could not be read again'),
    });
  }

  /** What the project's rules make of a report; no promise where the copy is young, and nothing takes long. */
  ruling(report: GroupingInput): Ruling | null | Promise<Ruling | null> {
    const lists = this.#copy.get();
    return lists instanceof Promise ? lists.then((read) => this.#rule(read, report)) : this.#rule(lists, report);
  }

  /** The rules of a project in their order, as this process knows them. */
  known(project: string): readonly GroupingRule[] {
    return this.#copy.current?.get(project)?.rules ?? [];
  }

  /** A rule of any project, with its project, as this process knows them. */
  find(id: string): { project: string; rule: GroupingRule } | null {
    for (const { id: project, rules } of this.#copy.current?.values() ?? []) {
      const rule = rules.find((one) => one.id === id);
      if (rule !== undefined) return { project, rule };
    }
    return null;
  }

  /** Rules of all projects. */
  get size(): number {
    return [...(this.#copy.current?.values() ?? [])].reduce((sum, { rules }) => sum + rules.length, 0);
  }

  /** Call after writing rules. The change applies here when this resolves, in other processes within two seconds. */
  changed(): Promise<void> {
    return this.#copy.changed();
  }

  /** Reads the store. */
  async reload(): Promise<void> {
    await this.#copy.reload();
  }

  #rule(lists: RuleLists, report: GroupingInput): Ruling | null | Promise<Ruling | null> {
    const list = lists.get(report.project);
    if (list === undefined || list.rules.length === 0) return null;
    const { clock, grouping } = this.deps;
    return this.#setOf(list).ruling(new RuleSubject(report, grouping.masks), () => clock.monotonic());
  }

  #setOf(list: RuleListDoc): GroupingRuleSet {
    const name = `${list.id} ${list.rev}`;
    const before = this.#compiled.get(name);
    if (before !== undefined) return before;
    const made = GroupingRuleSet.of(list.rules, this.deps.log);
    this.#compiled.set(name, made);
    return made;
  }
}
