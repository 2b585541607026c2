/**
 * Shared by pages and command line (contract 10, tokens). Every action is in the audit log before
 * the response.
 */
import { invalid, notFound, unknownProject } from '../../kernel/errors.js';
import type { Actor } from '../../ports/domain/audit.js';
import type { NewToken, TokenProjects, TokenRecord } from '../../ports/domain/tokens.js';
import { MONITOR_SOURCE_PATTERN } from '../../ports/domain/watchdog.js';
import type { AuditService } from './audit/audit.js';
import type { TokenService } from './tokens/tokens.js';

/** A `source` creates a `wd_live_` token with only `watchdog:ping`. */
export type NewMasterToken = Omit<NewToken, 'kind'>;

const MAX_LIFETIME_SECONDS = 100 * 365 * 86_400;

export class MasterTokenService {
  constructor(
    private readonly tokens: TokenService,
    private readonly audit: AuditService,
    private readonly projects: TokenProjects,
  ) {}

  /**
   * Returns the secret, only this once.
   * @throws ServiceError validation_failed, unknown_project
   */
  async create(actor: Actor, input: NewMasterToken): Promise<{ token: string; record: TokenRecord }> {
    const { project = null, source = null, expires_in_seconds = null } = input;
    this.#validate(input, source, expires_in_seconds);
    if (project !== null && !(await this.projects.has(project))) throw unknownProject(project);
    const kind = source === null ? 'master' : 'watchdog';
    const made = await this.tokens.issue({
      ...input,
      name: input.name.trim(),
      agent: input.agent?.trim() || null,
      kind,
      project,
      source,
      expires_in_seconds,
    });
    const record = await this.tokens.getToken(made.id);
    const { agent } = record;
    const details = { kind, scopes: record.scopes.join(' '), project, source, agent, expires_at: record.expires_at };
    await this.audit.record(actor, 'token.created', formatLabel(record), details);
    return { token: made.token, record };
  }

  /** @throws ServiceError not_found */
  async revoke(actor: Actor, id: string): Promise<TokenRecord> {
    if (!(await this.tokens.revoke(id))) throw notFound(`token ${id}`);
    const record = await this.tokens.getToken(id);
    await this.audit.record(
      actor,
      'token.revoked',
      formatLabel(record),
      {},
      {
        before: { revoked_at: null },
        after: { revoked_at: record.revoked_at },
      },
    );
    return record;
  }

  /** @throws ServiceError not_found */
  async remove(actor: Actor, id: string): Promise<void> {
    const record = await this.tokens.getToken(id);
    await this.tokens.remove(id);
    await this.audit.record(actor, 'token.deleted', formatLabel(record));
  }

  #validate(input: NewMasterToken, source: string | null, seconds: number | null): void {
    const name = input.name.trim();
    const fields: Record<string, string> = {};
    if (name === '' || name.length > 100 || /\p{Cc}/u.test(name)) fields['name'] = 'must have 1 to 100 characters';
    if (input.scopes.length === 0) fields['scopes'] = 'must have at least one';
    if (seconds !== null && !(Number.isInteger(seconds) && seconds > 0 && seconds <= MAX_LIFETIME_SECONDS)) {
      fields['expires_in_seconds'] = 'must be a positive whole number of seconds';
    }
    const agent = input.agent?.trim() ?? '';
    if (agent.length > 100 || /\p{Cc}/u.test(agent)) fields['agent'] = 'must have at most 100 characters';
    if (source !== null && !MONITOR_SOURCE_PATTERN.test(source)) {
      fields['source'] = 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : @ / - without . or .. as a segment';
    }
    if (source !== null && input.scopes.join() !== 'watchdog:ping')
      fields['scopes'] = 'a token with a source can only have watchdog:ping';
    if (Object.keys(fields).length > 0) throw invalid(fields);
  }
}

const formatLabel = (record: TokenRecord): string => `${record.name} (${record.prefix})`;
