/** Recorded before the response, never changed or removed (contract 80). */
import {
  added,
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Ids,
} from '../../../kernel/contract/index.js';
import {
  AUDIT_TARGETS,
  type Actor,
  type AuditEntry,
  type AuditFields,
  type AuditLog,
  type AuditQuery,
  type AuditReader,
  type AuditTarget,
  type AuditTargetResolver,
} from '../../../ports/domain/audit.js';
import { isGuid } from '../../../lib/text/guid.js';
import { searchAuditLog } from './audit-search.js';
import { TokenService } from '../tokens/tokens.js';

@injectable()
export class AuditService implements AuditLog, AuditReader {
  readonly #own: AuditTargetResolver[] = [];

  constructor(
    @inject(collection<AuditEntry>('audit')) private readonly rows: Collection<AuditEntry>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(TokenService) private readonly tokens: TokenService,
    @inject(added(AUDIT_TARGETS)) private readonly targets: () => readonly AuditTargetResolver[],
  ) {}

  async record(
    principal: Actor,
    action: string,
    target: string,
    details: AuditFields = {},
    change?: { before: AuditFields; after: AuditFields },
  ): Promise<void> {
    const actor = await this.#actor(principal);
    await this.rows.insert({ id: this.ids.uuid(), at: this.clock.iso(), actor, action, target, details, ...change });
  }

  async listRecent(limit: number, after: string | null = null): Promise<{ items: AuditEntry[]; next: string | null }> {
    return this.rows.find({ sort: [['at', 'desc']], limit, after });
  }

  async search(query: AuditQuery, limit: number, after: string | null = null): ReturnType<AuditReader['search']> {
    return searchAuditLog(this.rows, query, limit, after);
  }

  /** No plugin extends its own extension point. */
  addTargets(targets: AuditTargetResolver): void {
    this.#own.push(targets);
  }

  async describeTarget({
    action,
    target,
    details,
  }: Pick<AuditEntry, 'action' | 'target' | 'details'>): Promise<AuditTarget> {
    const [noun] = action.split('.');
    const known = await [...this.#own, ...this.targets()].find((one) => one.noun === noun)?.describe(target);
    if (known) return known;
    const { name } = details;
    return { name: typeof name === 'string' && isGuid(target) ? name : target, href: null };
  }

  async listByTarget(target: string, limit: number, after: string | null = null): ReturnType<AuditLog['listByTarget']> {
    return this.rows.find({ filter: { target }, sort: [['at', 'desc']], limit, after });
  }

  async #actor(principal: Actor): Promise<string> {
    if (typeof principal === 'string') return principal;
    if (principal.kind === 'session') return principal.username;
    if (principal.kind === 'shared_key') return 'shared key';
    if (principal.kind === 'public') return 'public';
    if (principal.kind === 'basic') return principal.username ?? 'public';
    const record = await this.tokens.find(principal.id);
    return `token ${principal.name} (${record?.prefix ?? principal.id})`;
  }
}
