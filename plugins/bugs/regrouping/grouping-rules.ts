/**
 * Each change is one compare-and-set of the project's document, so concurrent writes preserve the
 * order.
 */
import { inject, injectable, type Principal } from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { findChangedFields, type ChangedFields } from '../../../lib/changed-fields.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import { toBugCaller, checkProjectAccess } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { GroupingRuleCache } from '../grouping-rules/rule-cache.js';
import { compileRule, RuleProblem } from '../grouping-rules/compiled-rule.js';
import {
  MAX_TOTAL_RULES,
  MAX_PROJECT_RULES,
  type GroupingRule,
  type RuleBehaviour,
  type RuleListDoc,
} from '../grouping/grouping-rule.js';
import { SecretGuard } from '../store/secret-guard.js';
import { RuleTrialService, type RuleTrial } from './rule-trial.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';

export type GroupingRuleFields = Partial<RuleBehaviour & Pick<GroupingRule, 'name' | 'enabled'>>;

const MAX_ATTEMPTS = 50;
const MAX_NAME_LENGTH = 200;

@injectable()
export class GroupingRuleService {
  constructor(
    @inject(DEPS.ruleLists) private readonly ruleLists: Collection<RuleListDoc>,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(DEPS.audit) private readonly audit: () => AuditLog | undefined,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(GroupingRuleCache) private readonly book: GroupingRuleCache,
    @inject(RuleTrialService) private readonly trials: RuleTrialService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /**
   * Lists in order of precedence.
   * @throws ServiceError not_found (the project), insufficient_scope
   */
  async list(principal: Principal, project: string): Promise<GroupingRule[]> {
    return (await this.#findList(principal, project))?.rules ?? [];
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async get(principal: Principal, project: string, id: string): Promise<GroupingRule> {
    return getRule(await this.list(principal, project), id);
  }

  /**
   * Appends the rule.
   * @throws ServiceError not_found, insufficient_scope, validation_failed, conflict
   */
  async create(
    principal: Principal,
    project: string,
    { managed, ...fields }: GroupingRuleFields & { managed?: true },
  ): Promise<GroupingRule> {
    await this.#findList(principal, project);
    const rule = { ...this.#buildRule(principal, fields), ...(managed && { managed }) };
    validateRule(rule);
    await this.secrets.rejectSecrets({ ...fields });
    await this.book.reload();
    if (this.book.size >= MAX_TOTAL_RULES) throw conflict(`The limit of ${MAX_TOTAL_RULES} grouping rules is reached.`);
    await this.#write(project, (rules) => {
      if (rules.length >= MAX_PROJECT_RULES)
        throw conflict(`The project has reached its limit of ${MAX_PROJECT_RULES} grouping rules.`);
      return [...rules, rule];
    });
    await this.#record(principal, 'created', project, rule);
    return rule;
  }

  /**
   * Checks fields without writing.
   * @returns the given fields as they are stored
   * @throws ServiceError validation_failed
   */
  check(principal: Principal, fields: GroupingRuleFields): GroupingRuleFields {
    const rule = this.#buildRule(principal, fields);
    validateRule(rule);
    return Object.fromEntries(Object.keys(fields).map((name) => [name, rule[name as keyof GroupingRuleFields]]));
  }

  /** @throws ServiceError as `create` */
  async change(principal: Principal, project: string, id: string, fields: GroupingRuleFields): Promise<GroupingRule> {
    await this.get(principal, project, id);
    await this.secrets.rejectSecrets({ ...fields });
    let was: GroupingRule | null = null;
    const rules = await this.#write(project, (before) => {
      was = getRule(before, id);
      const after = { ...mergeFields(was, fields), updated_at: this.clock.iso() };
      validateRule(after);
      return before.map((rule) => (rule.id === id ? after : rule));
    });
    await this.#recordChange(principal, project, was, getRule(rules, id), Object.keys(fields));
    return getRule(rules, id);
  }

  async #recordChange(
    principal: Principal,
    project: string,
    was: GroupingRule | null,
    is: GroupingRule,
    given: readonly string[],
  ): Promise<void> {
    if (was === null) return;
    const changed = given.filter((name) => !isUnchanged(name, was, is));
    if (changed.length > 0)
      await this.#record(principal, getAuditAction(changed, is), project, is, findChangedFields(was, is, changed));
  }

  /**
   * Its groups remain; later reports are grouped without it.
   * @throws ServiceError not_found
   */
  async remove(principal: Principal, project: string, id: string): Promise<void> {
    const rule = await this.get(principal, project, id);
    await this.#write(project, (rules) => {
      getRule(rules, id);
      return rules.filter((one) => one.id !== id);
    });
    await this.#record(principal, 'deleted', project, rule);
  }

  /**
   * @param ids all rules in their new order
   * @throws ServiceError validation_failed unless every id is given exactly once
   */
  async reorder(principal: Principal, project: string, ids: readonly string[]): Promise<GroupingRule[]> {
    await this.#findList(principal, project);
    const after = await this.#write(project, (rules) => reorderRules(rules, ids));
    await this.audit()?.record(principal, 'grouping_rule.reordered', project, { rules: ids.length });
    return after;
  }

  /**
   * No effect at the end of the list.
   * @throws ServiceError not_found
   */
  async move(principal: Principal, project: string, id: string, by: -1 | 1): Promise<GroupingRule> {
    const rules = await this.list(principal, project);
    const rule = getRule(rules, id);
    const ids = rules.map((one) => one.id);
    const at = ids.indexOf(id);
    const other = ids[at + by];
    if (other === undefined) return rule;
    [ids[at], ids[at + by]] = [other, id];
    await this.reorder(principal, project, ids);
    return rule;
  }

  /**
   * Stores nothing.
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
    const known = id === null ? null : getRule(rules, id);
    const tried = {
      ...(known === null ? this.#buildRule(principal, fields) : mergeFields(known, fields)),
      enabled: true,
    };
    validateRule(tried);
    const after = known === null ? [...rules, tried] : rules.map((rule) => (rule.id === known.id ? tried : rule));
    return this.trials.run(project, rules, after, tried.id);
  }

  #buildRule(principal: Principal, fields: GroupingRuleFields): GroupingRule {
    const now = this.clock.iso();
    const empty: GroupingRule = {
      id: this.ids.uuid(),
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
    return mergeFields(empty, fields);
  }

  async #findList(principal: Principal, project: string): Promise<RuleListDoc | null> {
    checkProjectAccess(toBugCaller(principal), project);
    if ((await this.projects.get(project)) === null) throw notFound(`project ${project.slice(0, 64)}`);
    return this.ruleLists.get(project);
  }

  async #write(project: string, plan: (rules: GroupingRule[]) => GroupingRule[]): Promise<GroupingRule[]> {
    const { ruleLists, clock } = this;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await ruleLists.get(project);
      const rules = plan(before?.rules ?? []);
      const updated_at = clock.iso();
      const done =
        before === null
          ? await insertList(ruleLists, { id: project, rev: 1, rules, updated_at })
          : (await ruleLists.change(
              { id: project, rev: before.rev },
              { set: { rules: rules as never, updated_at }, inc: { rev: 1 } },
            )) !== null;
      if (!done) continue;
      await this.book.publishChange();
      return rules;
    }
    throw conflict('Too many concurrent changes of the rules of this project; try again.');
  }

  async #record(
    principal: Principal,
    action: string,
    project: string,
    rule: GroupingRule,
    change?: ChangedFields,
  ): Promise<void> {
    const details = { name: rule.name, project };
    await this.audit()?.record(principal, `grouping_rule.${action}`, rule.id, details, change);
  }
}

async function insertList(lists: BugDeps['ruleLists'], list: RuleListDoc): Promise<boolean> {
  try {
    await lists.insert(list);
    return true;
  } catch (error) {
    if (error instanceof StoreConflict) return false;
    throw error;
  }
}

function getRule(rules: readonly GroupingRule[], id: string): GroupingRule {
  const rule = rules.find((one) => one.id === id);
  if (rule === undefined) throw notFound('grouping rule with this id');
  return rule;
}

function reorderRules(rules: readonly GroupingRule[], ids: readonly string[]): GroupingRule[] {
  const found = ids.map((id) => rules.find((rule) => rule.id === id));
  if (new Set(ids).size !== rules.length || ids.length !== rules.length || found.includes(undefined))
    throw invalid({ ids: `must contain each of the ${rules.length} rules of the project once; reload the list` });
  return found as GroupingRule[];
}

const toNonEmpty = (text: string | null): string | null => text?.trim() || null;

function mergeFields(rule: GroupingRule, given: GroupingRuleFields): GroupingRule {
  const after = { ...rule };
  for (const field of ['exception_class', 'origin', 'title'] as const)
    if (given[field] !== undefined) after[field] = toNonEmpty(given[field]);
  // Spaces may be part of a pattern.
  if (given.message !== undefined) after.message = given.message || null;
  if (given.fingerprint !== undefined) after.fingerprint = given.fingerprint?.length ? given.fingerprint : null;
  if (given.enabled !== undefined) after.enabled = given.enabled;
  const named = given.name?.trim();
  const unnamed = rule.name === '' || rule.name === getDefaultName(rule);
  after.name = named || (given.name === undefined && !unnamed ? rule.name : getDefaultName(after));
  return after;
}

const getDefaultName = ({ exception_class, message, origin }: RuleBehaviour): string =>
  [exception_class, message, origin]
    .filter((part) => part !== null)
    .join(' · ')
    .replace(/\p{Cc}/gu, ' ')
    .slice(0, MAX_NAME_LENGTH);

const isUnchanged = (name: string, before: GroupingRule, after: GroupingRule): boolean =>
  JSON.stringify(before[name as keyof GroupingRule]) === JSON.stringify(after[name as keyof GroupingRule]);

function getAuditAction(changed: readonly string[], { enabled }: GroupingRule): string {
  if (changed.length > 1 || changed[0] !== 'enabled') return 'changed';
  return enabled ? 'enabled' : 'disabled';
}

function validateRule(rule: GroupingRule): void {
  try {
    compileRule(rule);
  } catch (error) {
    if (error instanceof RuleProblem) throw invalid(error.fields);
    throw error;
  }
}
