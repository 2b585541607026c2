import type { PluginContext } from '../../kernel/contract.js';
import { TOKEN_PROJECTS, TOKEN_PURPOSES } from '../../ports/domain/tokens.js';
import { CATALOG, RUNTIME } from '../../ports/domain/system.js';
import type { Account } from './model/account.js';
import { Accounts } from './accounts/accounts.js';
import { Audit } from './audit/audit.js';
import { AccessAuthenticator } from './sessions/authenticator.js';
import { Background } from './background.js';
import { Credentials } from './login/credentials.js';
import { Devices } from './login/devices.js';
import { Directory } from './accounts/directory.js';
import { createFirstStart } from './accounts/first-start.js';
import { Forms } from './sessions/forms.js';
import { TokenFinder } from './tokens/live-tokens.js';
import { Login } from './login/login.js';
import { MasterTokens } from './master-tokens.js';
import { KnownAddresses } from './login/known-addresses.js';
import { KnownProjects } from './token-projects.js';
import { Roster } from './accounts/roster.js';
import { SecurityLog } from './audit/security-log.js';
import { Sessions } from './sessions/sessions.js';
import { PROCESS_COUNT, Throttle } from './login/throttle.js';
import { PURPOSES, Tokens } from './tokens/tokens.js';
import { Totp } from './login/totp.js';

/** A type alias, so that it is assignable to a record in plugin lists. */
export type AccessConfig = {
  admin_user: string;
  admin_password: string | null;
};

const SERVICES = {
  background: Background,
  tokens: Tokens,
  audit: Audit,
  security: SecurityLog,
  sessions: Sessions,
  roster: Roster,
  accounts: Accounts,
  directory: Directory,
  throttle: Throttle,
  devices: Devices,
  known: KnownAddresses,
  credentials: Credentials,
  totp: Totp,
  login: Login,
  authenticator: AccessAuthenticator,
  forms: Forms,
  liveTokens: TokenFinder,
};

export type AccessServices = ReturnType<typeof buildAccessServices>;

export function buildAccessServices(ctx: PluginContext<AccessConfig>) {
  ctx.bind(PROCESS_COUNT, () => ctx.resolve(RUNTIME).peers());
  ctx.bind(PURPOSES, () => ctx.extensions(TOKEN_PURPOSES));
  const services = ctx.services(SERVICES);
  const { tokens, audit, accounts } = services;
  const projects = new KnownProjects(() => ctx.extensions(TOKEN_PROJECTS));
  const masters = new MasterTokens(tokens, audit, projects);
  const first = createFirstStart(ctx.collection<Account>('accounts'), accounts, ctx.ids, ctx.config);
  return { ...services, projects, masters, first, system: ctx.resolve(CATALOG), clock: ctx.clock, app: ctx.app };
}
