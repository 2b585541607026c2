/** Authenticates every request, so its failure stops the start (contract 10). */
import joi from 'joi';
import {
  ACCOUNT_CHANGE_LISTENERS,
  ACCOUNTS,
  AUTHENTICATOR,
  CREDENTIALS,
  ADMIN_BOOTSTRAP,
  FORM_RESULT_STORE,
  LOGIN_ATTEMPT_LIMITER,
  THROTTLE,
} from '../../ports/domain/access.js';
import { AUDIT_READER, AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import { LIVE_TOKENS } from '../../ports/domain/live-tokens.js';
import { TOKEN_PROJECTS, TOKEN_PURPOSES, TOKENS } from '../../ports/domain/tokens.js';
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { HOUR_MS } from '../../lib/time.js';
import { CATALOG, RUNTIME } from '../../ports/domain/system.js';
import { MAIL_QUEUES } from '../../ports/domain/mail/mail-queue.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { checkUsername } from './model/account.js';
import { buildAccessServices, type AccessConfig, type AccessServices } from './services.js';
import { buildTokenCommands } from './commands/token.js';
import { buildUserCommands } from './commands/user.js';
import { INVITATION_INDEXES } from './invitations/invitation.js';
import { OIDC_ERRORS } from './oidc/errors.js';
import { oidcSchema } from './oidc/settings.js';
import { buildAccessPages } from './pages/pages.js';
import { findPasswordProblem } from './model/password.js';
import { buildAccessRoutes } from './routes.js';
import { createAccountTargets } from './pages/audit-targets.js';
import { createAccountSearch, createTokenSearch } from './pages/search.js';

const ENDED_RETENTION_MS = 30 * 24 * HOUR_MS;

async function sweepExpired(services: AccessServices): Promise<void> {
  await services.sessions.sweep();
  await services.login.sweep();
  await services.states.sweep();
  await services.forms.sweep();
  await services.invitations.sweep();
  await services.throttle.sweep();
  await services.known.sweep();
  await services.tokens.sweep(new Date(services.clock.now() - ENDED_RETENTION_MS).toISOString());
}

function getConfiguredName(given: string): string {
  const checked = checkUsername(given);
  if ('problem' in checked) throw new Error(checked.problem);
  return checked.username;
}

/** A bad password fails the start, not the first login. */
function getConfiguredPassword(given: string): string {
  const problem = findPasswordProblem(given, '');
  if (problem !== null) throw new Error(problem);
  return given;
}

export default definePlugin<AccessConfig>({
  id: 'access',
  section: 'auth',
  version: '1.0.0',
  api: 1,
  title: 'Accounts and tokens',
  critical: true,
  needs: [CATALOG.name, RUNTIME.name],
  provides: [
    AUTHENTICATOR,
    AUDIT,
    AUDIT_READER,
    TOKENS,
    CREDENTIALS,
    ADMIN_BOOTSTRAP,
    FORM_RESULT_STORE,
    LIVE_TOKENS,
    ACCOUNTS,
    LOGIN_ATTEMPT_LIMITER,
    THROTTLE,
  ].map(({ name }) => name),
  extensionPoints: [
    TOKEN_PROJECTS.point,
    TOKEN_PURPOSES.point,
    ACCOUNT_CHANGE_LISTENERS.point,
    AUDIT_TARGETS.point,
    MAIL_QUEUES.point,
  ],
  extends: [SEARCH_PROVIDERS.point],
  errors: OIDC_ERRORS,
  config: joi.object({
    local: joi
      .boolean()
      .allow('recovery')
      .messages({ 'boolean.base': 'must be true, false or recovery' })
      .default(true)
      .description(
        'Sign-in with a password of this service: `true`, `false`, or `"recovery"` for administrators only. `aos user create` and `aos user passwd` always work',
      ),
    second_factor: joi
      .string()
      .valid('optional', 'admins', 'all')
      .default('optional')
      .description('Who needs a passkey or an authenticator app; who has neither sets one up before anything else'),
    oidc: oidcSchema,
    admin_user: joi
      .string()
      .custom(getConfiguredName)
      .default('admin')
      .description('Name of the administrator created when there are no accounts'),
    admin_password: joi
      .string()
      .custom(getConfiguredPassword)
      .allow(null)
      .meta({ secret: true })
      .default(null)
      .description('Its password; null generates a random one, printed once'),
  }),
  tags: { tokens: 'Token information, and sub-tokens with fewer rights.' },
  collections: [
    {
      name: 'accounts',
      indexes: [
        { fields: ['username_key'], unique: true },
        { fields: ['role', 'disabled'] },
        { fields: ['identity_key'] },
        { fields: ['email_key'] },
      ],
    },
    {
      name: 'tokens',
      indexes: [
        { fields: ['token_id'], unique: true },
        { fields: ['kind', 'created_at'] },
        { fields: ['kind', 'project', 'created_at'] },
        { fields: ['parent_id', 'expires_at'] },
        { fields: ['source'] },
        { fields: ['expires_at'] },
        { fields: ['revoked_at'] },
        { fields: ['name'] },
        { fields: ['prefix'] },
      ],
    },
    {
      name: 'sessions',
      indexes: [{ fields: ['account_id', 'created_at'] }, { fields: ['expires_at'] }, { fields: ['last_seen_at'] }],
    },
    { name: 'invitations', indexes: INVITATION_INDEXES },
    { name: 'challenges', indexes: [{ fields: ['expires_at'] }] },
    { name: 'spent_states', indexes: [{ fields: ['expires_at'] }] },
    { name: 'forms', indexes: [{ fields: ['expires_at'] }] },
    { name: 'throttle', indexes: [{ fields: ['at'] }] },
    { name: 'known_addresses', indexes: [{ fields: ['at'] }, { fields: ['account'] }] },
    { name: 'roster', indexes: [] },
    {
      name: 'audit',
      indexes: [
        { fields: ['at'] },
        { fields: ['target', 'at'] },
        { fields: ['actor', 'at'] },
        { fields: ['action', 'at'] },
      ],
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const services = buildAccessServices(ctx);
    services.audit.addTargets(createAccountTargets(services.accounts));
    return {
      routes: buildAccessRoutes(services),
      pages: buildAccessPages(services),
      commands: [
        ...buildTokenCommands(services.tokens, services.masters),
        ...buildUserCommands(services.accounts, ctx.ids),
      ],
      jobs: [
        { name: 'sweep', everyMs: HOUR_MS, removesByAge: true, run: () => sweepExpired(services) },
        { name: 'roster', everyMs: HOUR_MS, run: () => services.roster.reconcile() },
      ],
      services: {
        [AUTHENTICATOR.name]: services.authenticator,
        [AUDIT.name]: services.audit,
        [AUDIT_READER.name]: services.audit,
        [TOKENS.name]: services.tokens,
        [CREDENTIALS.name]: services.credentials,
        [LOGIN_ATTEMPT_LIMITER.name]: services.credentials,
        [ADMIN_BOOTSTRAP.name]: services.first,
        [FORM_RESULT_STORE.name]: services.forms,
        [LIVE_TOKENS.name]: services.liveTokens,
        [ACCOUNTS.name]: services.directory,
        [THROTTLE.name]: services.throttle,
      },
      extensions: [
        extend(SEARCH_PROVIDERS, createAccountSearch(services.accounts)),
        extend(
          SEARCH_PROVIDERS,
          createTokenSearch(services.tokens, () => ctx.clock.iso()),
        ),
      ],
      start: () => services.roster.reconcile(),
      stop: () => {
        services.security.flush();
        return services.background.waitUntilIdle();
      },
    };
  },
});
