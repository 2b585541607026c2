/**
 * Credentials of test visitors: the principal itself is the credential, so that tests create no
 * accounts or tokens. Replaces the access plugin.
 */
import type { Plugin } from '../../kernel/contract/index.js';
import { AUTHENTICATOR } from '../../ports/domain/access.js';
import { View, type Authenticator, type Principal, type SessionPrincipal } from '../../ports/http/index.js';

/**
 * A signed-in account by its role, a token by its scopes, the shared key, or an anonymous visitor.
 */
export type Visitor = 'public' | 'admin' | 'member' | 'shared_key' | TokenVisitor;

export interface TokenVisitor {
  scopes: readonly string[];
  /** The only project that the token may access. */
  project?: string;
}

const TOKEN_PREFIX = 'test-';
const encodePrincipal = (principal: Principal): string =>
  TOKEN_PREFIX + Buffer.from(JSON.stringify(principal)).toString('base64url');
const decodePrincipal = (secret: string): Principal | null =>
  secret.startsWith(TOKEN_PREFIX)
    ? (JSON.parse(Buffer.from(secret.slice(TOKEN_PREFIX.length), 'base64url').toString('utf8')) as Principal)
    : null;

const createSession = (role: 'admin' | 'member'): SessionPrincipal => ({
  kind: 'session',
  session_id: `session-${role}`,
  account_id: `account-${role}`,
  username: role,
  role,
});

export function buildCredentialHeaders(visitor: Visitor): Record<string, string> {
  if (visitor === 'public') return {};
  if (visitor === 'shared_key') return { authorization: `Bearer ${encodePrincipal({ kind: 'shared_key' })}` };
  if (typeof visitor === 'string') return { cookie: `svc_session=${encodePrincipal(createSession(visitor))}` };
  const { scopes, project = null } = visitor;
  const token = { id: 'token-test', name: 'test', token_kind: 'master', source: null, parent_id: null } as const;
  return { authorization: `Bearer ${encodePrincipal({ kind: 'token', ...token, scopes, project })}` };
}

export const getCsrfToken = (cookie: string): string => Buffer.from(`csrf(${cookie})`).toString('base64url');

const authenticator: Authenticator = {
  authenticateBearer: async (secret) => decodePrincipal(secret),
  authenticateSession: async (cookie) => {
    const principal = decodePrincipal(cookie);
    return principal?.kind === 'session' ? principal : null;
  },
  getCsrfToken: getCsrfToken,
};

/** Authenticates every visitor. */
export const visitorsPlugin: Plugin = {
  id: 'testvisitors',
  version: '1.0.0',
  api: 1,
  title: 'Visitors of a test',
  provides: [AUTHENTICATOR.name],
  setup: () => ({ services: { [AUTHENTICATOR.name]: authenticator } }),
};

/** Path of a page that shows every panel, like the dashboard. */
export const PANELS_PATH = '/test-panels';
export const panelsPagePlugin: Plugin = {
  id: 'testpanels',
  version: '1.0.0',
  api: 1,
  title: 'Panels of a test',
  from: import.meta.url,
  setup: () => ({
    pages: [
      {
        path: PANELS_PATH,
        title: 'Panels',
        access: { session: 'member' },
        panels: true,
        handle: () => new View('panels'),
      },
    ],
  }),
};
