import { collection, inject, injectable, PORT, type Principal } from '../../kernel/contract/index.js';
import { conflict, owned, requireProject, unknownProject } from '../../kernel/errors.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Collection } from '../../ports/store/index.js';
import { getBoundProject } from './caller.js';
import type { RequestRule, RequestRuleFields } from './request-rule.js';

const MAX_REQUEST_RULES = 100;
/** Changes of other processes apply after this time at the latest. */
export const RULES_TTL_MS = 5_000;

@injectable()
export class RequestRuleService {
  #atHand: { rules: Promise<RequestRule[]>; at: number } | null = null;

  constructor(
    @inject(collection<RequestRule>('rules')) private readonly rows: Collection<RequestRule>,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  async list(principal: Principal | null): Promise<RequestRule[]> {
    const own = principal === null ? null : getBoundProject(principal);
    const filter = own === null ? {} : { project: own };
    return (await this.rows.find({ filter, sort: [['id', 'asc']], limit: MAX_REQUEST_RULES })).items;
  }

  getCachedRules(): Promise<RequestRule[]> {
    const now = this.clock.monotonic();
    if (this.#atHand === null || now - this.#atHand.at >= RULES_TTL_MS) {
      const cacheEntry = { rules: this.list(null), at: now };
      this.#atHand = cacheEntry;
      cacheEntry.rules.catch(() => {
        if (this.#atHand === cacheEntry) this.#atHand = null;
      });
    }
    return this.#atHand.rules;
  }

  /** @throws ServiceError insufficient_scope, unknown_project, conflict */
  async create(
    principal: Principal,
    created_by: string,
    fields: RequestRuleFields & { agent: string },
  ): Promise<RequestRule> {
    const project = await this.#resolveProject(principal, fields.project ?? null);
    if ((await this.rows.count({})) >= MAX_REQUEST_RULES)
      throw conflict(`The limit of ${MAX_REQUEST_RULES} rules is reached.`);
    const { severity = null, tag = null, agent, enabled = true } = fields;
    const created_at = this.clock.iso();
    const managed = fields.managed && { managed: fields.managed };
    const rule = { id: this.ids.uuid(), project, severity, tag, agent, enabled, ...managed, created_by, created_at };
    await this.rows.insert(rule);
    this.#atHand = null;
    await this.audit.record(principal, 'request_rule.created', rule.id, { agent, project });
    return rule;
  }

  /** @throws ServiceError not_found, insufficient_scope, unknown_project */
  async change(principal: Principal, id: string, fields: RequestRuleFields): Promise<RequestRule> {
    const before = await this.#getRule(principal, id);
    const project =
      fields.project === undefined ? before.project : await this.#resolveProject(principal, fields.project ?? null);
    const after = { ...before, ...fields, project };
    const { id: _id, ...set } = after;
    await this.rows.change({ id }, { set });
    this.#atHand = null;
    await this.audit.record(principal, 'request_rule.changed', id, { agent: after.agent, enabled: after.enabled });
    return after;
  }

  /** @throws ServiceError not_found */
  async remove(principal: Principal, id: string): Promise<void> {
    const { agent } = await this.#getRule(principal, id);
    await this.rows.remove({ id });
    this.#atHand = null;
    await this.audit.record(principal, 'request_rule.deleted', id, { agent });
  }

  async clear(project: string): Promise<void> {
    await this.rows.remove({ project });
    this.#atHand = null;
  }

  async #getRule(principal: Principal, id: string): Promise<RequestRule> {
    return owned(
      getBoundProject(principal),
      await this.rows.get(id),
      (rule) => rule.project,
      `rule ${id.slice(0, 64)}`,
    );
  }

  async #resolveProject(principal: Principal, slug: string | null): Promise<string | null> {
    requireProject(getBoundProject(principal), slug);
    if (slug === null || (await this.projects.get(slug)) !== null) return slug;
    throw unknownProject(slug);
  }
}
