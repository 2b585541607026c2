/**
 * The audit log: every administrative action, recorded before its answer goes out (contract 80). Entries are never
 * changed or removed.
 */
import { PORT, collection, inject, injectable, type Clock, type Collection, type Ids } from '../../kernel/contract.js';
import type { AuditEntry, AuditFields, AuditLog, CommandLine } from '../../ports/domain/access.js';
import type { Principal } from '../../ports/http.js';
import { Tokens } from './tokens.js';

/** Who acts, for the log. */
export type Actor = Principal | CommandLine | 'system';

@injectable()
export class Audit implements AuditLog {
  constructor(
    @inject(collection<AuditEntry>('audit')) private readonly rows: Collection<AuditEntry>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(Tokens) private readonly tokens: Tokens,
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

  /** Newest first. */
  async recent(limit: number, after: string | null = null): Promise<{ items: AuditEntry[]; next: string | null }> {
    return this.rows.find({ sort: [['at', 'desc']], limit, after });
  }

  /** Newest first. */
  async of(target: string, limit: number, after: string | null = null): ReturnType<AuditLog['of']> {
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
