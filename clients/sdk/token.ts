/** Creates a sub-token for each process or machine from a master token (contract 10, tokens). */
import type { ClientContext } from './context.js';
import { evaluateResponse, toFailureFields, type ServiceProblem } from './verdict.js';

export interface TokenRequest {
  name: string;
  /** Default: all of the master token's. */
  scopes?: readonly string[];
  project?: string;
  expires_in_seconds?: number;
}

export interface ProvisionedToken {
  /** Shown only once; null after a failure. */
  token: string | null;
  isTransient: boolean;
  unauthorized: boolean;
  id?: string;
  scopes?: string[];
  /** RFC 3339. */
  expires_at?: string;
  error?: ServiceProblem;
}

export async function provisionToken(
  context: ClientContext,
  request: TokenRequest,
  signal?: AbortSignal,
): Promise<ProvisionedToken> {
  const options = { token: context.token, body: request, signal };
  const verdict = evaluateResponse(await context.ask('POST', '/api/tokens/v1/provision', options));
  if (verdict.kind !== 'answer') return { token: null, ...toFailureFields(verdict) };
  const { token, id, scopes, expires_at } = verdict.body as Partial<ProvisionedToken>;
  if (typeof token === 'string') return { token, isTransient: false, unauthorized: false, id, scopes, expires_at };
  const error = { code: 'network', message: 'a response without a token' };
  return { token: null, isTransient: true, unauthorized: false, error };
}
