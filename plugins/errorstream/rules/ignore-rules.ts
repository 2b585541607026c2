import { findChangedFields, type ChangedFields } from '../../../lib/changed-fields.js';
import {
  inject,
  injectable,
  type Principal,
  type Collection,
  type Clock,
  type Ids,
} from '../../../kernel/contract/index.js';
import {
  conflict,
  denied,
  notFound,
  owned,
  requireProject,
  ServiceError,
  unknownProject,
} from '../../../kernel/errors.js';
import type { MutableErrorGroup, GroupMuter } from '../../../ports/domain/bugs.js';
import type { Filter } from '../../../ports/store/index.js';
import { IgnoreRuleFilter } from './ignore-rule-filter.js';
import { RULE_DEPS } from './deps.js';
import { compilePattern } from './compiled-pattern.js';
import {
  isActive,
  getRuleName,
  toRuleView,
  type RuleCriteria,
  type IgnoreRule,
  type IgnoreRuleFields,
  type RuleView,
} from './rule.js';
import type { ApplyResult, ApplyRunDoc } from './documents.js';
import { ApplyRunService } from './apply-runs.js';
import { RuleReconciler } from './rule-reconciler.js';
import { type PreviewResult, RuleApplier } from './rule-applier.js';
import { findReadable, type ReadablePage } from '../../../ports/store/skipped-documents.js';
import type { AuditLog } from '../../../ports/domain/audit.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';

/** Every process keeps all in memory. */
const MAX_RULES = 1000;

export interface RuleQuery {
  limit: number;
  cursor?: string | undefined;
  project?: string | undefined;
  enabled?: boolean | undefined;
  match_type?: string | undefined;
}

/** A project's token also sees rules for all projects, but cannot change them. */
const getTokenProject = (principal: Principal): string | null =>
  principal.kind === 'token' ? principal.project : null;

type RuleChanges = Partial<Omit<IgnoreRule, 'id'>>;

@injectable()
export class IgnoreRuleService {
  constructor(
    @inject(RULE_DEPS.rules) private readonly rules: Collection<IgnoreRule>,
    @inject(RULE_DEPS.muting) private readonly muting: GroupMuter,
    @inject(RULE_DEPS.projects) private readonly projects: Pick<ProjectDirectory, 'get' | 'list'>,
    @inject(RULE_DEPS.audit) private readonly audit: () => AuditLog | undefined,
    @inject(RULE_DEPS.clock) private readonly clock: Clock,
    @inject(RULE_DEPS.ids) private readonly ids: Ids,
    @inject(IgnoreRuleFilter) private readonly book: IgnoreRuleFilter,
    @inject(RuleApplier) private readonly rulePreview: RuleApplier,
    @inject(RuleReconciler) private readonly reconciler: RuleReconciler,
    @inject(ApplyRunService) private readonly runs: ApplyRunService,
  ) {}

  /**
   * Lists oldest first, the order of precedence.
   * @throws InvalidCursor, ServiceError insufficient_scope
   */
  async getPage(
    principal: Principal,
    query: RuleQuery,
  ): Promise<ReadablePage<RuleView> & { count: () => Promise<number> }> {
    const own = getTokenProject(principal);
    const { project, enabled, match_type } = query;
    if (project !== undefined) requireProject(own, project);
    const filter: Filter = {
      deleted_at: null,
      ...(project !== undefined && { project }),
      ...(enabled !== undefined && { enabled }),
      ...(match_type !== undefined && { match_type }),
      ...(own !== null && { or: [{ project: own }, { project: null }] }),
    };
    const page = await findReadable(this.rules, { filter, limit: query.limit, after: query.cursor ?? null });
    return { ...page, items: page.items.map(toRuleView), count: () => this.rules.count(filter) };
  }

  /** @throws ServiceError not_found, insufficient_scope */
  async get(principal: Principal, id: string): Promise<RuleView> {
    return toRuleView(await this.#getRule(principal, id, 'read'));
  }

  /**
   * @throws ServiceError reason_required, invalid_pattern, validation_failed, unknown_project,
   *   insufficient_scope, conflict
   */
  async create(
    principal: Principal,
    input: IgnoreRuleFields & Pick<RuleCriteria, 'match_type' | 'pattern'>,
  ): Promise<RuleView> {
    const { ids, clock, rules } = this;
    const now = clock.iso();
    const given = input.project === undefined ? getTokenProject(principal) : input.project;
    const rule: IgnoreRule = {
      id: ids.uuid(),
      name: getRuleName(input.name, input.pattern),
      match_type: input.match_type,
      pattern: input.pattern,
      case_sensitive: input.case_sensitive ?? false,
      project: await this.#resolveProject(principal, given),
      environment: input.environment?.trim() || null,
      reason: requireReason(input.reason),
      alarm_threshold: input.alarm_threshold ?? null,
      enabled: input.enabled ?? true,
      expires_at: input.expires_at ?? null,
      hit_count: 0,
      last_hit_at: null,
      is_template: false,
      ...(input.managed && { managed: input.managed }),
      created_by: getActor(principal),
      created_at: now,
      updated_at: now,
      settle_at: null,
      deleted_at: null,
    };
    compilePattern(rule);
    if ((await rules.count({ deleted_at: null })) >= MAX_RULES)
      throw conflict(`The limit of ${MAX_RULES} ignore rules is reached.`);
    await rules.insert(rule);
    await this.book.notifyChanged();
    await this.#record(principal, 'created', rule, { pattern: rule.pattern });
    return toRuleView(rule);
  }

  /**
   * Checks the fields of a rule without writing, and returns those that are stored in another form.
   * @throws ServiceError reason_required, invalid_pattern
   */
  check(input: IgnoreRuleFields & Pick<RuleCriteria, 'match_type' | 'pattern'>): Pick<RuleView, 'name' | 'reason'> {
    compilePattern({ case_sensitive: false, project: null, environment: null, ...input });
    return { name: getRuleName(input.name, input.pattern), reason: requireReason(input.reason) };
  }

  /** @throws ServiceError not_found, and what `create` throws */
  async change(principal: Principal, id: string, input: IgnoreRuleFields): Promise<RuleView> {
    const before = await this.#getRule(principal, id, 'write');
    const set = await this.#buildChanges(principal, before, input);
    if (Object.keys(set).length === 0) return toRuleView(before);
    const now = this.clock;
    const wasActive = isActive(before, now.now());
    const after: IgnoreRule = { ...before, ...set };
    compilePattern(after);
    const settles = wasActive && Object.keys(set).some((field) => RECONCILED_FIELDS.has(field));
    const written = await this.rules.change(
      { id, deleted_at: null },
      { set: { ...set, updated_at: now.iso(), ...(settles && { settle_at: now.iso() }) } },
    );
    if (written === null) throw notFound('ignore rule with this id');
    await this.book.notifyChanged();
    if (settles) await this.reconciler.runFirstPass(written.doc);
    await this.#record(
      principal,
      getAuditAction(set),
      written.doc,
      {},
      findChangedFields(before, written.doc, Object.keys(set)),
    );
    return toRuleView(written.doc);
  }

  /**
   * Also unmutes its groups.
   * @throws ServiceError not_found, insufficient_scope
   */
  async remove(principal: Principal, id: string): Promise<void> {
    const rule = await this.#getRule(principal, id, 'write');
    const now = this.clock.iso();
    const gone = { enabled: false, deleted_at: now, settle_at: now, updated_at: now };
    const written = await this.rules.change({ id, deleted_at: null }, { set: gone });
    if (written === null) throw notFound('ignore rule with this id');
    await this.book.notifyChanged();
    await this.reconciler.runFirstPass(written.doc);
    await this.#record(principal, 'deleted', rule, { pattern: rule.pattern, reason: rule.reason });
  }

  /**
   * Stores nothing, so it requires no reason.
   * @throws ServiceError invalid_pattern, unknown_project, insufficient_scope
   */
  async preview(
    principal: Principal,
    input: IgnoreRuleFields & Pick<RuleCriteria, 'match_type' | 'pattern'>,
    maxMs?: number,
  ): Promise<PreviewResult> {
    const given = input.project || getTokenProject(principal);
    const rule: RuleCriteria = {
      match_type: input.match_type,
      pattern: input.pattern,
      case_sensitive: input.case_sensitive ?? false,
      project: await this.#resolveProject(principal, given),
      environment: input.environment?.trim() || null,
    };
    return this.rulePreview.preview(rule, maxMs);
  }

  /**
   * Mutes existing matching groups; resolves when done.
   * @throws ServiceError not_found, conflict
   */
  async apply(
    principal: Principal,
    id: string,
    options: { dry_run?: boolean; signal?: AbortSignal },
  ): Promise<ApplyResult> {
    const rule = await this.#getRule(principal, id, 'write');
    const applied = await this.rulePreview.apply(id, options);
    if (options.dry_run !== true) await this.#record(principal, 'applied', rule, { ...applied });
    return applied;
  }

  /**
   * Starts in the background.
   * @throws ServiceError not_found, conflict
   */
  async startApply(principal: Principal, id: string): Promise<void> {
    await this.#getRule(principal, id, 'write');
    await this.runs.start(id, principal);
  }

  async listMutedGroups(id: string, limit: number): Promise<{ items: MutableErrorGroup[]; more: boolean }> {
    const page = await this.muting.listGroups({ muted_by: id, limit });
    return { items: page.items, more: page.next !== null };
  }

  async countMutedGroups(ids: readonly string[]): Promise<Record<string, number>> {
    const counts = await Promise.all(ids.map(async (id) => [id, await this.muting.countMuted(id)] as const));
    return Object.fromEntries(counts);
  }

  findLastRun(id: string): Promise<ApplyRunDoc | null> {
    return this.runs.findLast(id);
  }

  async listProjectOptions(): Promise<{ value: string; label: string }[]> {
    return (await this.projects.list()).map(({ slug, name }) => ({ value: slug, label: name }));
  }

  async #buildChanges(principal: Principal, before: IgnoreRule, input: IgnoreRuleFields): Promise<RuleChanges> {
    const set: RuleChanges = {};
    const { match_type, pattern, case_sensitive, alarm_threshold, enabled, expires_at } = input;
    if (input.name !== undefined) set.name = getRuleName(input.name, pattern ?? before.pattern);
    if (match_type !== undefined) set.match_type = match_type;
    if (pattern !== undefined) set.pattern = pattern;
    if (case_sensitive !== undefined) set.case_sensitive = case_sensitive;
    if (input.project !== undefined) set.project = await this.#resolveProject(principal, input.project);
    if (input.environment !== undefined) set.environment = input.environment?.trim() || null;
    if (input.reason !== undefined) set.reason = requireReason(input.reason);
    if (alarm_threshold !== undefined) set.alarm_threshold = alarm_threshold;
    if (enabled !== undefined) set.enabled = enabled;
    if (expires_at !== undefined) set.expires_at = expires_at;
    const changed = Object.entries(set).filter(([field, value]) => value !== before[field as keyof RuleChanges]);
    return Object.fromEntries(changed);
  }

  async #getRule(principal: Principal, id: string, right: 'read' | 'write'): Promise<IgnoreRule> {
    const known = await this.rules.get(id);
    const own = getTokenProject(principal);
    const there = known?.deleted_at === null ? known : null;
    // Everyone may see rules for all projects.
    const rule = owned(own, there, ({ project }) => project ?? own, 'ignore rule with this id');
    if (right === 'write' && own !== null && rule.project === null)
      throw denied(`The rule is for all projects, but the token is limited to project ${own}.`);
    return rule;
  }

  async #resolveProject(principal: Principal, given: string | null): Promise<string | null> {
    const slug = given === '' ? null : given;
    requireProject(getTokenProject(principal), slug);
    if (slug === null || (await this.projects.get(slug)) !== null) return slug;
    throw unknownProject(slug);
  }

  async #record(
    principal: Principal,
    action: string,
    rule: IgnoreRule,
    details: Record<string, string | number> = {},
    change?: ChangedFields,
  ): Promise<void> {
    const target = { name: rule.name, ...details };
    await this.audit()?.record(principal, `ignore_rule.${action}`, rule.id, target, change);
  }
}

/** A change may leave groups wrongly muted or with an outdated reason. */
const RECONCILED_FIELDS = new Set([
  'match_type',
  'pattern',
  'case_sensitive',
  'project',
  'environment',
  'reason',
  'enabled',
  'expires_at',
]);

function getAuditAction(set: RuleChanges): string {
  if (set.enabled === undefined || Object.keys(set).length > 1) return 'changed';
  return set.enabled ? 'enabled' : 'disabled';
}

/** @throws ServiceError reason_required */
function requireReason(given: string | null | undefined): string {
  const reason = given?.trim() ?? '';
  if (reason !== '') return reason;
  throw new ServiceError('reason_required', 'An ignore rule requires a `reason`: why is this noise?', {
    fields: { reason: 'is required' },
  });
}

function getActor(principal: Principal): string {
  if (principal.kind === 'session') return principal.username;
  return principal.kind === 'token' ? `token ${principal.name}` : principal.kind;
}
