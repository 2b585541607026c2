/** The plugin's services, and what its routes, pages and commands need beside them. */
import type { PluginContext } from '../../kernel/contract.js';
import { TOKEN_PROJECTS } from '../../ports/domain/access.js';
import { SYSTEM } from '../../ports/domain/system.js';
import type { Account } from './accounts/account.js';
import { Accounts } from './accounts/accounts.js';
import { Audit } from './audit.js';
import { AccessAuthenticator } from './authenticator.js';
import { Background } from './background.js';
import { Credentials } from './credentials.js';
import { Devices } from './devices.js';
import { Directory } from './accounts/directory.js';
import { firstStart } from './accounts/first-start.js';
import { Forms } from './forms.js';
import { TokenFinder } from './live-tokens.js';
import { Login } from './login.js';
import { MasterTokens } from './master-tokens.js';
import { KnownAddresses } from './known-addresses.js';
import { KnownProjects } from './known-projects.js';
import { Roster } from './accounts/roster.js';
import { SecurityLog } from './security-log.js';
import { Sessions } from './sessions.js';
import { Throttle } from './throttle.js';
import { Tokens } from './tokens.js';
import { Totp } from './totp.js';

/** A type and not an interface, so that a list of plugins takes it for a plain record. */
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

export type Services = ReturnType<typeof assemble>;

export function assemble(ctx: PluginContext<AccessConfig>) {
  const services = ctx.services(SERVICES);
  const { tokens, audit, accounts } = services;
  const projects = new KnownProjects(() => ctx.extensions(TOKEN_PROJECTS));
  const masters = new MasterTokens(tokens, audit, projects);
  const first = firstStart(ctx.collection<Account>('accounts'), accounts, ctx.ids, ctx.config);
  return { ...services, projects, masters, first, system: ctx.resolve(SYSTEM), clock: ctx.clock };
}
