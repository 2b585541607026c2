import type { PluginContext } from '../../kernel/contract/index.js';
import { TOKEN_PROJECTS, TOKEN_PURPOSES } from '../../ports/domain/tokens.js';
import { CATALOG, RUNTIME } from '../../ports/domain/system.js';
import type { Account } from './model/account.js';
import { AccountService } from './accounts/accounts.js';
import { AuditService } from './audit/audit.js';
import { AccessAuthenticator } from './sessions/authenticator.js';
import { BackgroundTasks } from './background-tasks.js';
import { CredentialVerifier } from './login/credentials.js';
import { DeviceCookies } from './login/devices.js';
import { AccountDirectoryService } from './accounts/directory.js';
import { createFirstStart } from './accounts/first-start.js';
import { SubmittedFormStore } from './sessions/forms.js';
import { TokenFinder } from './tokens/token-finder.js';
import { LoginService } from './login/login.js';
import { MasterTokenService } from './master-tokens.js';
import { KnownAddresses } from './login/known-addresses.js';
import { CombinedTokenProjects } from './token-projects.js';
import { InvitationMailer, SERVICE_URL } from './invitations/invitation-mail.js';
import { InvitationService } from './invitations/invitations.js';
import { AdminRoster } from './accounts/roster.js';
import { PasskeyService } from './passkeys/passkeys.js';
import { PasswordVerifier } from './login/password-verifier.js';
import { SIGN_IN_SETTINGS, SignInPolicy, type SignInSettings } from './policy/sign-in-policy.js';
import { OneTimeStates } from './sessions/one-time-states.js';
import { SessionOpener } from './login/session-opener.js';
import { ExternalSignIn } from './oidc/external-sign-in.js';
import { buildOidc } from './oidc/oidc.js';
import type { OidcSettings } from './oidc/settings.js';
import { SecurityLog } from './audit/security-log.js';
import { SessionService } from './sessions/sessions.js';
import { PROCESS_COUNT, LoginAttemptThrottle } from './login/throttle.js';
import { PURPOSE_PROVIDERS, TokenService } from './tokens/tokens.js';
import { TotpService } from './login/totp.js';

/** A type alias is assignable to a record in plugin lists. */
export type AccessConfig = SignInSettings & {
  admin_user: string;
  admin_password: string | null;
  oidc: OidcSettings;
};

const SERVICE_CLASSES = {
  background: BackgroundTasks,
  tokens: TokenService,
  audit: AuditService,
  security: SecurityLog,
  sessions: SessionService,
  roster: AdminRoster,
  accounts: AccountService,
  directory: AccountDirectoryService,
  throttle: LoginAttemptThrottle,
  devices: DeviceCookies,
  known: KnownAddresses,
  credentials: CredentialVerifier,
  states: OneTimeStates,
  passwords: PasswordVerifier,
  policy: SignInPolicy,
  passkeys: PasskeyService,
  opener: SessionOpener,
  totp: TotpService,
  login: LoginService,
  authenticator: AccessAuthenticator,
  forms: SubmittedFormStore,
  liveTokens: TokenFinder,
  mailer: InvitationMailer,
  invitations: InvitationService,
  external: ExternalSignIn,
};

export type AccessServices = ReturnType<typeof buildAccessServices>;

export function buildAccessServices(ctx: PluginContext<AccessConfig>) {
  ctx.bind(PROCESS_COUNT, () => ctx.resolve(RUNTIME).countProcesses());
  ctx.bind(SIGN_IN_SETTINGS, ctx.config);
  ctx.bind(SERVICE_URL, ctx.app.base_url.replace(/\/$/, ''));
  ctx.bind(PURPOSE_PROVIDERS, () => ctx.extensions(TOKEN_PURPOSES));
  const services = ctx.services(SERVICE_CLASSES);
  const { tokens, audit, accounts } = services;
  const projects = new CombinedTokenProjects(() => ctx.extensions(TOKEN_PROJECTS));
  const masters = new MasterTokenService(tokens, audit, projects);
  const first = createFirstStart(ctx.collection<Account>('accounts'), accounts, ctx.ids, ctx.config);
  const oidc = buildOidc(ctx, services);
  return { ...services, oidc, projects, masters, first, system: ctx.resolve(CATALOG), clock: ctx.clock, app: ctx.app };
}
