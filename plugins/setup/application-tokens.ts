/** The request can only restrict what the server grants (contract 60, token). */
import { PORT, collection, inject, injectable, type Clock, type Collection } from '../../kernel/contract/index.js';
import { conflict } from '../../kernel/errors.js';
import { AUDIT, type AuditLog } from '../../ports/domain/audit.js';
import { TOKENS, type TokenIssuer } from '../../ports/domain/tokens.js';
import { PROJECTS, type ProjectDirectory } from '../../ports/domain/projects.js';
import { SYSTEM, type SystemInfo } from '../../ports/domain/system.js';
import type { Principal, Role } from '../../ports/http/index.js';
import type { IssuedDoc } from './documents.js';
import { requireInstaller, SETUP_SCOPES } from './session.js';

export interface ApplicationRequest {
  project: string;
  name?: string;
  scopes?: string[];
  expires_in_seconds?: number;
  machine_name?: string;
  replace: boolean;
}

export interface ApplicationToken {
  token: string;
  id: string;
  scopes: string[];
  denied: string[];
  expires_at: string | null;
  project: string;
}

/** Scopes that an installer's setup login never grants, whatever the project allows. */
const isAdministratorScope = (scope: string): boolean => scope === 'updateservice:publish' || scope.endsWith(':manage');

/**
 * @param allowed the project's `setup_scopes`
 * @param requested undefined requests all
 */
export function grantScopes(
  allowed: readonly string[],
  requested: readonly string[] | undefined,
  role: Role,
): { scopes: string[]; denied: string[] } {
  const open = (scope: string): boolean =>
    allowed.includes(scope) && !SETUP_SCOPES.includes(scope) && (role === 'admin' || !isAdministratorScope(scope));
  const wanted = [...new Set(requested ?? allowed)];
  return { scopes: wanted.filter(open), denied: wanted.filter((scope) => !open(scope)) };
}

@injectable()
export class ApplicationTokenService {
  constructor(
    @inject(collection<IssuedDoc>('issued')) private readonly issued: Collection<IssuedDoc>,
    @inject(PROJECTS) private readonly projects: ProjectDirectory,
    @inject(TOKENS) private readonly tokens: TokenIssuer,
    @inject(AUDIT) private readonly audit: AuditLog,
    @inject(SYSTEM) private readonly system: Pick<SystemInfo, 'listScopes'>,
    @inject(PORT.clock) private readonly clock: Clock,
  ) {}

  /**
   * @throws ServiceError unknown_project; conflict when `replace` names a token issued elsewhere
   */
  async issue(principal: Principal, request: ApplicationRequest): Promise<ApplicationToken> {
    const { username, role } = requireInstaller(principal);
    const project = await this.projects.requireAccepting(request.project, 'installations');
    const known = this.system.listScopes();
    const { scopes, denied } = grantScopes(
      project.setup_scopes.filter((scope) => known.includes(scope)),
      request.scopes,
      role,
    );
    const name = request.name ?? buildTokenName(project.slug, request.machine_name);
    if (request.replace) await this.#revokeEarlier(principal, project.slug, name);
    const made = await this.tokens.issue({
      kind: 'sub',
      name,
      scopes,
      project: project.slug,
      expires_in_seconds: request.expires_in_seconds ?? null,
      created_by: `setup: ${username}`,
    });
    const at = this.clock.iso();
    await this.issued.insert({ id: made.id, kind: 'application', project: project.slug, name, by: username, at });
    await this.audit.record(principal, 'token.created', name, { kind: 'sub', project: project.slug, by: username });
    return { token: made.token, id: made.id, scopes, denied, expires_at: made.expires_at, project: project.slug };
  }

  async #revokeEarlier(principal: Principal, project: string, name: string): Promise<void> {
    const now = this.clock.iso();
    const live = (await this.tokens.list({ kind: 'sub', project })).filter(
      (one) => one.name === name && one.revoked_at === null && (one.expires_at === null || one.expires_at > now),
    );
    for (const { id } of live) {
      if ((await this.issued.get(id)) !== null) continue;
      throw conflict(`The token ${name} was not issued by a setup: choose another name, or revoke it in the web UI.`);
    }
    for (const { id } of live) {
      await this.tokens.revoke(id);
      await this.audit.record(principal, 'token.revoked', name, { kind: 'sub', project, reason: 'replaced' });
    }
  }
}

const buildTokenName = (project: string, machine: string | undefined): string =>
  (machine === undefined ? project : `${project} on ${machine}`).slice(0, 100);
