/** Builds the plugin's services from what the kernel gives, one after the other, each bound by name for the next. */
import type { PluginContext } from '../../kernel/contract.js';
import type { AuditEntry } from '../../ports/domain/access.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { SYSTEM } from '../../ports/domain/system.js';
import type { Account } from './account.js';
import { Accounts } from './accounts.js';
import { Audit } from './audit.js';
import { AccessAuthenticator } from './authenticator.js';
import { Background } from './background.js';
import { Credentials } from './credentials.js';
import { Devices } from './devices.js';
import { firstStart } from './first-start.js';
import { Login, type ChallengeDoc } from './login.js';
import { MasterTokens } from './master-tokens.js';
import { AT } from './names.js';
import { Roster, type RosterDoc } from './roster.js';
import { Sessions, type SessionDoc } from './sessions.js';
import { Throttle, type ThrottleDoc } from './throttle.js';
import type { TokenDoc } from './token.js';
import { Tokens } from './tokens.js';
import { Totp } from './totp.js';

/** A type and not an interface, so that a list of plugins takes it for a plain record. */
export type AccessConfig = {
  admin_user: string;
  admin_password: string | null;
};

export type Services = ReturnType<typeof assemble>;

export function assemble(ctx: PluginContext<AccessConfig>) {
  const rows = ctx.collection<Account>('accounts');
  bindPorts(ctx);
  ctx.bind(AT.accountRows, rows);
  ctx.bind(AT.tokenRows, ctx.collection<TokenDoc>('tokens'));
  ctx.bind(AT.sessionRows, ctx.collection<SessionDoc>('sessions'));
  ctx.bind(AT.challengeRows, ctx.collection<ChallengeDoc>('challenges'));
  ctx.bind(AT.throttleRows, ctx.collection<ThrottleDoc>('throttle'));
  ctx.bind(AT.rosterRows, ctx.collection<RosterDoc>('roster'));
  ctx.bind(AT.auditRows, ctx.collection<AuditEntry>('audit'));

  /** One instance for everybody who asks for `name`. */
  const make = <T>(name: string, type: new (...args: never[]) => T): T => {
    const instance = ctx.construct(type);
    ctx.bind(name, instance);
    return instance;
  };
  const background = make(AT.background, Background);
  const tokens = make(AT.tokens, Tokens);
  const audit = make(AT.audit, Audit);
  const sessions = make(AT.sessions, Sessions);
  const roster = make(AT.roster, Roster);
  const accounts = make(AT.accounts, Accounts);
  const throttle = make(AT.throttle, Throttle);
  const devices = make(AT.devices, Devices);
  const credentials = make(AT.credentials, Credentials);
  const totp = make(AT.totp, Totp);
  const login = make(AT.login, Login);
  const authenticator = ctx.construct(AccessAuthenticator);
  const projects = () => ctx.find(PROJECTS);
  const masters = new MasterTokens(tokens, audit, projects);
  const first = firstStart(rows, accounts, ctx.ids, ctx.config);
  const core = { background, tokens, audit, sessions, roster, accounts, throttle, devices, credentials, totp, login };
  return { ...core, authenticator, projects, masters, first, system: ctx.resolve(SYSTEM), clock: ctx.clock };
}

function bindPorts(ctx: PluginContext<AccessConfig>): void {
  ctx.bind(AT.app, ctx.app);
  ctx.bind(AT.system, ctx.resolve(SYSTEM));
  ctx.bind(AT.clock, ctx.clock);
  ctx.bind(AT.ids, ctx.ids);
  ctx.bind(AT.log, ctx.log);
  ctx.bind(AT.hasher, ctx.ports.hasher);
  ctx.bind(AT.cipher, ctx.ports.cipher);
}
