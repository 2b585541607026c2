/**
 * Public intake keys (contract 15): tokens of kind `intake` that only allow error intake for one
 * project.
 */
import { inject, injectable, type Principal } from '../../kernel/contract/index.js';
import { invalid, notFound } from '../../kernel/errors.js';
import { AUDIT, type Actor, type AuditLog } from '../../ports/domain/audit.js';
import { TOKENS, type TokenIssuer, type TokenRecord } from '../../ports/domain/tokens.js';
import { buildDsn, getActorName } from './project.js';
import { ProjectService } from './service.js';

export interface IntakeKey {
  id: string;
  name: string;
  prefix: string;
  created_by: string;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
}

@injectable()
export class IntakeKeyService {
  constructor(
    @inject(ProjectService) private readonly projects: ProjectService,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(AUDIT) private readonly audit: AuditLog,
  ) {}

  /**
   * Newest first.
   * @throws ServiceError not_found, insufficient_scope
   */
  async list(principal: Principal, slug: string): Promise<IntakeKey[]> {
    await this.projects.getProject(principal, slug);
    return (await this.tokens.list({ kind: 'intake', project: slug })).map(toIntakeKey);
  }

  async listPage(
    principal: Principal,
    slug: string,
    query: { limit: number; cursor?: string },
  ): Promise<{ items: IntakeKey[]; next: string | null; count: () => Promise<number> }> {
    await this.projects.getProject(principal, slug);
    const page = await this.tokens.listPage({ kind: 'intake', project: slug }, query.limit, query.cursor);
    return { ...page, items: page.items.map(toIntakeKey) };
  }

  /** Only this answer contains the key. */
  async create(actor: Actor, slug: string, given?: string): Promise<{ id: string; key: string; dsn: string }> {
    const project = await this.projects.getProject(typeof actor === 'string' ? { kind: 'public' } : actor, slug);
    const name = (given ?? '').trim() || `intake ${slug}`;
    if (name.length > 100) throw invalid({ name: 'must have at most 100 characters' });
    const made = await this.tokens.issue({
      kind: 'intake',
      name,
      scopes: [],
      project: slug,
      created_by: getActorName(actor),
    });
    await this.audit.record(
      actor,
      'intake_key.created',
      slug,
      { id: made.id, name },
      { before: { key: null }, after: { key: 'set' } },
    );
    return { id: made.id, key: made.token, dsn: buildDsn(this.projects.app.base_url, made.token, project.number) };
  }

  /** @throws ServiceError not_found, also for a key of another project */
  async revoke(actor: Principal, slug: string, id: string): Promise<void> {
    await this.projects.getProject(actor, slug);
    const token = await this.tokens.find(id);
    if (token === null || token.kind !== 'intake' || token.project !== slug)
      throw notFound(`intake key ${id} of ${slug}`);
    await this.tokens.revoke(id);
    await this.audit.record(
      actor,
      'intake_key.revoked',
      slug,
      { id, name: token.name },
      { before: { key: 'set' }, after: { key: null } },
    );
  }
}

function toIntakeKey({ id, name, prefix, created_by, created_at, last_used_at, revoked_at }: TokenRecord): IntakeKey {
  return { id, name, prefix, created_by, created_at, last_used_at, revoked_at };
}
