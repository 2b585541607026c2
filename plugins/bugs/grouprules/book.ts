/**
 * This process's copy of all grouping rules. The rules of a project are compiled when its first report asks for them,
 * and then read from memory: a report reads no store, and one of a project without rules costs a look-up in a map.
 *
 * A change applies in this process before its call is answered. Other processes notice it by the revision, a small
 * document that every change raises after the rules are written. A process reads the revision again in the background
 * when its copy is one second old, and before it asks anything when its copy is two seconds old. So a change applies
 * everywhere within two seconds, and an idle process reads nothing. If a process dies between the rules and the
 * revision, its caller got no answer; all rules are read again every half minute anyway. (The ignore rules of the error
 * stream are kept the same way.)
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { all } from '../../../lib/paging.js';
import { SingleFlight } from '../../../lib/single-flight.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { GroupingInput } from '../grouping/key.js';
import type { Ruling } from './compiled-rule.js';
import { REVISION_ID, type GroupingRule, type RuleListDoc } from '../grouping/grouping-rule.js';
import { GroupingRuleSet } from './rule-set.js';
import { RuleSubject } from './subject.js';

const SHOULD_MS = 1_000;
const MUST_MS = 2_000;
const WHOLE_MS = 30_000;
const PAGE = 100;
/** Projects whose rules are kept compiled. */
const COMPILED = 500;

@injectable()
export class GroupingRuleBook {
  #lists: ReadonlyMap<string, RuleListDoc> | null = null;
  #compiled = new BoundedMap<GroupingRuleSet>({ most: COMPILED });
  #rev = -1;
  #checkedAt = -Infinity;
  #loadedAt = -Infinity;
  readonly #reads = new SingleFlight<void>();

  constructor(
    @inject(DEPS)
    private readonly deps: Pick<BugDeps, 'ruleLists' | 'ruleRevisions' | 'clock' | 'log' | 'grouping'>,
  ) {}

  /** What the project's rules make of a report; no promise where the copy is young, and nothing takes long. */
  ruling(report: GroupingInput): Ruling | null | Promise<Ruling | null> {
    const age = this.deps.clock.monotonic() - this.#checkedAt;
    if (this.#lists === null || age > MUST_MS) return this.reload().then(() => this.#ask(report));
    if (age > SHOULD_MS) this.#inBackground();
    return this.#ask(report);
  }

  /** The rules of a project in their order, as this process knows them. */
  known(project: string): readonly GroupingRule[] {
    return this.#lists?.get(project)?.rules ?? [];
  }

  /** A rule of any project, with its project, as this process knows them. */
  find(id: string): { project: string; rule: GroupingRule } | null {
    for (const { id: project, rules } of this.#lists?.values() ?? []) {
      const rule = rules.find((one) => one.id === id);
      if (rule !== undefined) return { project, rule };
    }
    return null;
  }

  /** Rules of all projects. */
  get size(): number {
    return [...(this.#lists?.values() ?? [])].reduce((sum, { rules }) => sum + rules.length, 0);
  }

  /** Call after writing rules. The change applies here when this resolves, in other processes within two seconds. */
  async changed(): Promise<void> {
    await this.deps.ruleRevisions.change({ id: REVISION_ID }, { inc: { rev: 1 } }, { upsert: true });
    await this.reload();
  }

  /** Reads the store. Callers share a read, but only one that begins after they asked. */
  reload(): Promise<void> {
    return this.#reads.fresh(REVISION_ID, () => this.#read());
  }

  #ask(report: GroupingInput): Ruling | null | Promise<Ruling | null> {
    const list = this.#lists?.get(report.project);
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

  #inBackground(): void {
    this.#reads
      .share(REVISION_ID, () => this.#read())
      .catch((error: unknown) => this.deps.log.error({ err: error }, 'the grouping rules could not be read again'));
  }

  async #read(): Promise<void> {
    const began = this.deps.clock.monotonic();
    // The revision comes first, so that the next read notices a change between the two.
    const rev = (await this.deps.ruleRevisions.get(REVISION_ID))?.rev ?? 0;
    if (this.#lists === null || rev !== this.#rev || began - this.#loadedAt > WHOLE_MS) {
      const lists = await all(this.deps.ruleLists, { limit: PAGE });
      this.#lists = new Map(lists.map((list) => [list.id, list]));
      this.#rev = rev;
      this.#loadedAt = began;
    }
    this.#checkedAt = began;
  }
}
