/** A sub-token has at most the rights of its master (contract 10, tokens). */
import type { Clock } from '../../../kernel/contract/index.js';
import { denied, ServiceError, unknownProject } from '../../../kernel/errors.js';
import { hasScope } from '../../../lib/scopes.js';
import type { TokenProjects } from '../../../ports/domain/tokens.js';
import type { Principal } from '../../../ports/http/index.js';
import { isLive } from '../model/token.js';
import type { TokenService } from './tokens.js';

const DAY_SECONDS = 86_400;
export const DEFAULT_LIFETIME_SECONDS = DAY_SECONDS;
export const MAX_TOKEN_LIFETIME_SECONDS = 90 * DAY_SECONDS;

export interface ProvisionInput {
  name: string;
  scopes?: string[];
  project?: string | null;
  agent?: string | null;
  expires_in_seconds?: number;
}

export interface ProvisionResult {
  token: string;
  id: string;
  scopes: string[];
  expires_at: string;
}

/**
 * @throws ServiceError insufficient_scope, validation_failed, unknown_project, unauthorized,
 *   conflict
 */
export async function provisionToken(
  parts: { tokens: TokenService; clock: Clock; projects: TokenProjects },
  principal: Principal,
  input: ProvisionInput,
): Promise<ProvisionResult> {
  if (principal.kind !== 'token' || principal.token_kind !== 'master') throw denied('Requires a master token.');
  const scopes = [...new Set(input.scopes ?? principal.scopes)];
  parts.tokens.checkScopes(scopes);
  const foreign = scopes.filter((scope) => !hasScope(principal.scopes, scope));
  if (foreign.length > 0) throw denied(`The master token lacks ${foreign.join(', ')}.`);
  const project = await resolveProject(principal.project, input.project ?? null, parts.projects);
  const agent = getAgentName(principal.agent ?? null, input.agent ?? null);
  const master = await parts.tokens.findDoc(principal.id);
  const now = parts.clock.now();
  if (master === null || !isLive(master, new Date(now).toISOString())) {
    throw new ServiceError('unauthorized', 'The master token has just been revoked.');
  }
  const requestedExpiry = new Date(now + (input.expires_in_seconds ?? DEFAULT_LIFETIME_SECONDS) * 1000).toISOString();
  const expires_at =
    master.expires_at !== null && master.expires_at < requestedExpiry ? master.expires_at : requestedExpiry;
  const created_by = `token ${master.name} (${master.prefix})`;
  const made = await parts.tokens.issueChild(master, {
    kind: 'sub',
    name: input.name,
    scopes,
    project,
    agent,
    expires_at,
    created_by,
  });
  return { token: made.token, id: made.id, scopes, expires_at };
}

function getAgentName(own: string | null, requestedAgent: string | null): string | null {
  if (own !== null && requestedAgent !== null && requestedAgent !== own)
    throw denied(`The master token is limited to the agent ${own}.`);
  return own ?? requestedAgent;
}

async function resolveProject(
  own: string | null,
  requestedProject: string | null,
  projects: TokenProjects,
): Promise<string | null> {
  if (own !== null && requestedProject !== null && requestedProject !== own)
    throw denied(`The master token is limited to project ${own}.`);
  if (own !== null || requestedProject === null) return own;
  if (!(await projects.has(requestedProject))) throw unknownProject(requestedProject);
  return requestedProject;
}
