/**
 * Grouping rules of the projects, for the API and the pages. Each change is one compare-and-set of
 * the project's document, so concurrent writes preserve the order.
 */
import { inject, injectable, type Principal } from '../../../kernel/contract.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { findChangedFields, type ChangedFields } from '../../../lib/changed-fields.js';
import { StoreConflict } from '../../../ports/store.js';
import { toBugCaller, checkProjectAccess } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { GroupingRuleBook } from '../grouprules/book.js';
import { compileRule, RuleProblem } from '../grouprules/compiled-rule.js';
import {
  MAX_TOTAL_RULES,
  MAX_PROJECT_RULES,
  type GroupingRule,
  type RuleBehaviour,
  type RuleListDoc,
} from '../grouping/grouping-rule.js';
import { SecretGuard } from '../store/secret-guard.js';
import { RuleTrials, type RuleTrial } from './trial.js';

export type GroupingRuleFields = Partial<RuleBehaviour & Pick<GroupingRule, 'name' | 'enabled'>>;

const ATTEMPTS = 50;
const MAX_NAME_LENGTH = 200;

@injectable()
export class GroupingRules {
  constructor(
    @inject(DEPS)
    private readonly deps: Pick<BugDeps, 'ruleLists' | 'projects' | 'audit' | 'clock' | 'ids'>,
    @inject(GroupingRuleBook) private readonly book: GroupingRuleBook,
    @inject(RuleTrials) private readonly trials: RuleTrials,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /**
   * Returns the rules in order of precedence.
   * @throws ServiceError not_found (the project), insufficient_scope
   */
  async list(principal: Principal, project: string): Promise<GroupingRule[]> {
    return (await this.#listOf(principal, project))?.rules ?? [];
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async get(principal: Principal, project: string, id: string): Promise<GroupingRule> {
    return needed(await this.list(principal, project), id);
  }

  /**
   * Appends the rule as the last one.
   * @throws ServiceError not_found, insufficient_scope, validation_failed, conflict
   */
  async create(principal: Principal, project: string, fields: GroupingRuleFields): Promise<GroupingRule> {
    await this.#listOf(principal, project);
    const rule = this.#ruleOf(principal, fields);
    checkRule(rule);
    await this.secrets.refuse({ ...fields });
    await this.book.reload();
    if (this.book.size >= MAX_TOTAL_RULES)
      throw conflict(`There are ${MAX_TOTAL_RULES} grouping rules, which is as many as every process keeps in memory.`);
    await this.#write(project, (rules) => {
      if (rules.length >= MAX_PROJECT_RULES)
        throw conflict(
          `The project has ${MAX_PROJECT_RULES} grouping rules, which is as many as each report is held against.`,
        );
      return [...rules, rule];
    });
    await this.#record(principal, 'created', project, rule);
    return rule;
  }

  /**
   * Changes the given fields only.
   * @throws ServiceError as `create`
   */
  async change(principal: Principal, project: string, id: string, fields: GroupingRuleFields): Promise<GroupingRule> {
    await this.get(principal, project, id);
    await this.secrets.refuse({ ...fields });
    let was: GroupingRule | null = null;
    const rules = await this.#write(project, (before) => {
      was = needed(before, id);
      const after = { ...merged(was, fields), updated_at: this.deps.clock.iso() };
      checkRule(after);
      return before.map((rule) => (rule.id === id ? after : rule));
    });
    await this.#recordChange(principal, project, was, needed(rules, id), Object.keys(fields));
    return needed(rules, id);
  }

  async #recordChange(
    principal: Principal,
    project: string,
    was: GroupingRule | null,
    is: GroupingRule,
    given: readonly string[],
  ): Promise<void> {
    if (was === null) return;
    const changed = given.filter((name) => !isSame(name, was, is));
    if (changed.length > 0)
      await this.#record(principal, actionOf(changed, is), project, is, findChangedFields(was, is, changed));
  }

  /**
   * Deletes the rule. Its groups remain; later reports are grouped without it.
   * @throws ServiceError not_found
   */
  async remove(principal: Principal, project: string, id: string): Promise<void> {
    const rule = await this.get(principal, project, id);
    await this.#write(project, (rules) => {
      needed(rules, id);
      return rules.filter((one) => one.id !== id);
    });
    await this.#record(principal, 'deleted', project, rule);
  }

  /**
   * @param ids all rules of the project in their new order
   * @throws ServiceError validation_failed unless every id is given exactly once
   */
  async reorder(principal: Principal, project: string, ids: readonly string[]): Promise<GroupingRule[]> {
    await this.#listOf(principal, project);
    const after = await this.#write(project, (rules) => ordered(rules, ids));
    await this.deps.audit()?.record(principal, 'grouping_rule.reordered', project, { rules: ids.length });
    return after;
  }

  /**
   * Moves the rule one position; no effect at the end of the list.
   * @throws ServiceError not_found
   */
  async move(principal: Principal, project: string, id: string, by: -1 | 1): Promise<GroupingRule> {
    const rules = await this.list(principal, project);
    const rule = needed(rules, id);
    const ids = rules.map((one) => one.id);
    const at = ids.indexOf(id);
    const other = ids[at + by];
    if (other === undefined) return rule;
    [ids[at], ids[at + by]] = [other, id];
    await this.reorder(principal, project, ids);
    return rule;
  }

  /**
   * Computes the effect of a rule on stored occurrences without storing anything.
   * @param id the rule that it replaces; null: it is new and last
   * @throws ServiceError not_found, insufficient_scope, validation_failed
   */
  async preview(
    principal: Principal,
    project: string,
    fields: GroupingRuleFields,
    id: string | null,
  ): Promise<RuleTrial> {
    const rules = await this.list(principal, project);
    const known = id === null ? null : needed(rules, id);
    const tried = { ...(known === null ? this.#ruleOf(principal, fields) : merged(known, fields)), enabled: true };
    checkRule(tried);
    const after = known === null ? [...rules, tried] : rules.map((rule) => (rule.id === known.id ? tried : rule));
    return this.trials.of(project, rules, after, tried.id);
  }

  #ruleOf(principal: Principal, fields: GroupingRuleFields): GroupingRule {
    const now = this.deps.clock.iso();
    const empty: GroupingRule = {
      id: this.deps.ids.uuid(),
      name: '',
      enabled: true,
      exception_class: null,
      message: null,
      origin: null,
      fingerprint: null,
      title: null,
      created_by: toBugCaller(principal).name,
      created_at: now,
      updated_at: now,
    };
    return merged(empty, fields);
  }

  async #listOf(principal: Principal, project: string): Promise<RuleListDoc | null> {
    checkProjectAccess(toBugCaller(principal), project);
    if ((await this.deps.projects.get(project)) === null) throw notFound(`project ${project.slice(0, 64)}`);
    return this.deps.ruleLists.get(project);
  }

  async #write(project: string, plan: (rules: GroupingRule[]) => GroupingRule[]): Promise<GroupingRule[]> {
    const { ruleLists, clock } = this.deps;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await ruleLists.get(project);
      const rules = plan(before?.rules ?? []);
      const updated_at = clock.iso();
      const done =
        before === null
          ? await inserted(ruleLists, { id: project, rev: 1, rules, updated_at })
          : (await ruleLists.change(
              { id: project, rev: before.rev },
              { set: { rules: rules as never, updated_at }, inc: { rev: 1 } },
            )) !== null;
      if (!done) continue;
      await this.book.changed();
      return rules;
    }
    throw conflict('The rules of this project change too often at the moment; try again.');
  }

  async #record(
    principal: Principal,
    action: string,
    project: string,
    rule: GroupingRule,
    change?: ChangedFields,
  ): Promise<void> {
    const details = { name: rule.name, project };
    await this.deps.audit()?.record(principal, `grouping_rule.${action}`, rule.id, details, change);
  }
}

async function inserted(lists: BugDeps['ruleLists'], list: RuleListDoc): Promise<boolean> {
  try {
    await lists.insert(list);
    return true;
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
}

function needed(rules: readonly GroupingRule[], id: string): GroupingRule {
  const rule = rules.find((one) => one.id === id);
  if (rule === undefined) throw notFound('grouping rule with this id');
  return rule;
}

function ordered(rules: readonly GroupingRule[], ids: readonly string[]): GroupingRule[] {
  const found = ids.map((id) => rules.find((rule) => rule.id === id));
  if (new Set(ids).size !== rules.length || ids.length !== rules.length || found.includes(undefined))
    throw invalid({ ids: `must name each of the ${rules.length} rules of the project once; read the list again` });
  return found as GroupingRule[];
}

const filled = (text: string | null): string | null => text?.trim() || null;

function merged(rule: GroupingRule, given: GroupingRuleFields): GroupingRule {
  const after = { ...rule };
  for (const field of ['exception_class', 'origin', 'title'] as const)
    if (given[field] !== undefined) after[field] = filled(given[field]);
  // Spaces may be part of a pattern.
  if (given.message !== undefined) after.message = given.message || null;
  if (given.fingerprint !== undefined) after.fingerprint = given.fingerprint?.length ? given.fingerprint : null;
  if (given.enabled !== undefined) after.enabled = given.enabled;
  const named = given.name?.trim();
  const unnamed = rule.name === '' || rule.name === nameOf(rule);
  after.name = named || (given.name === undefined && !unnamed ? rule.name : nameOf(after));
  return after;
}

const nameOf = ({ exception_class, message, origin }: RuleBehaviour): string =>
  [exception_class, message, origin]
    .filter((part) => part !== null)
    .join(' · ')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, MAX_NAME_LENGTH);

const isSame = (name: string, before: GroupingRule, after: GroupingRule): boolean =>
  JSON.stringify(before[name as keyof GroupingRule]) === JSON.stringify(after[name as keyof GroupingRule]);

function actionOf(changed: readonly string[], { enabled }: GroupingRule): string {
  if (changed.length > 1 || changed[0] !== 'enabled') return 'changed';
  return enabled ? 'enabled' : 'disabled';
}

function checkRule(rule: GroupingRule): void {
  try {
    compileRule(rule);
  } catch (error) {
    if (error instanceof RuleProblem) throw invalid(error.fields);
    throw error;
  }
}
