/** The port on the accounts and sessions of this plugin. */
import { PORT, collection, inject, injectable, type Collection } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import type { Cipher } from '../../../ports/cipher.js';
import type { Role } from '../../../ports/http/index.js';
import { AccountService } from '../accounts/accounts.js';
import { checkProfile, toIdentityKey, type AccountProfile } from '../accounts/profile.js';
import { isLastAdminError } from '../accounts/roster.js';
import { AuditService } from '../audit/audit.js';
import { SecurityLog } from '../audit/security-log.js';
import { checkUsername, toEmailKey, type Account, type ExternalIdentity } from '../model/account.js';
import { InvitationEnded, InvitationService } from '../invitations/invitations.js';
import type { ExternalProfile, InvitedIdentity, LinkedAccount, SignInPort } from './port.js';
import { refuseSignIn } from './errors.js';
import { LoginService, type LoginStep } from '../login/login.js';
import type { BrowserInfo } from '../login/session-opener.js';

const MAX_NAME_ATTEMPTS = 50;
const SEAL_PURPOSE = 'provider-token';

@injectable()
export class ExternalSignIn implements SignInPort {
  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(AccountService) private readonly accounts: AccountService,
    @inject(LoginService) private readonly login: LoginService,
    @inject(InvitationService) private readonly invitations: InvitationService,
    @inject(AuditService) private readonly audit: AuditService,
    @inject(SecurityLog) private readonly security: SecurityLog,
    @inject(PORT.cipher) private readonly cipher: Cipher,
  ) {}

  async findByIdentity(identity: ExternalIdentity): Promise<Account | null> {
    const { items } = await this.rows.find({ filter: { identity_key: toIdentityKey(identity) }, limit: 2 });
    return items.length === 1 ? (items[0] ?? null) : null;
  }

  async linkByEmail(identity: ExternalIdentity, email: string): Promise<Account | null> {
    const filter = { email_key: toEmailKey(email), email_verified: true };
    const { items } = await this.rows.find({ filter, limit: 2 });
    const found = items[0];
    if (items.length !== 1 || found === undefined || found.identity_key) return null;
    const set = { identity: { ...identity }, identity_key: toIdentityKey(identity) };
    const changed = await this.rows.change({ id: found.id, ...filter, identity_key: null }, { set });
    if (changed === null) return null;
    await this.audit.record('system', 'user.identity_linked', found.username, { issuer: identity.issuer, email });
    return changed.doc;
  }

  async create(identity: ExternalIdentity, profile: ExternalProfile, role: Role): Promise<LinkedAccount> {
    const base = toUsername(profile.username);
    for (let number = 1; number <= MAX_NAME_ATTEMPTS; number++) {
      const username = number === 1 ? base : `${base}-${number}`;
      try {
        return await this.accounts.createExternal('system', { ...profile, username, role, identity });
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
        // Another tab of the same user was faster.
        const bound = await this.findByIdentity(identity);
        if (bound !== null) return bound;
      }
    }
    throw refuseSignIn('sign_in_denied', 'No free username was found for you. Ask an administrator.');
  }

  async acceptInvitation(
    key: string,
    { identity, profile, email, role }: InvitedIdentity,
  ): Promise<LinkedAccount | null> {
    try {
      return await this.invitations.acceptExternal(key, email, (invited) =>
        this.create(identity, { ...profile, full_name: profile.full_name ?? invited.full_name }, role ?? invited.role),
      );
    } catch (error) {
      if (error instanceof InvitationEnded) throw refuseSignIn('sign_in_denied', error.message);
      throw error;
    }
  }

  async setRole(account: LinkedAccount, role: Role): Promise<LinkedAccount> {
    if (account.role === role) return account;
    try {
      return await this.accounts.setRole('system', account.id, role);
    } catch (error) {
      if (!isLastAdminError(error)) throw error;
      await this.audit.record('system', 'user.role_kept', account.username, {
        role: account.role,
        wanted: role,
        reason: 'last active administrator',
      });
      return account;
    }
  }

  async setProfile(account: LinkedAccount, profile: AccountProfile): Promise<void> {
    const fields: Record<string, string> = {};
    const { full_name, ...email } = checkProfile(profile, fields);
    const known = await this.rows.get(account.id);
    // What the provider does not say stays.
    const set = {
      ...(full_name && { full_name }),
      ...(email.email && email),
    };
    if (known === null || Object.keys(fields).length > 0) return;
    if (Object.entries(set).every(([name, value]) => known[name as keyof Account] === value)) return;
    await this.rows.change({ id: account.id }, { set });
  }

  async signIn({ id }: LinkedAccount, from: BrowserInfo, idToken: string): Promise<LoginStep> {
    const account = await this.rows.get(id);
    if (account === null || account.disabled) {
      this.recordDenial(account, from);
      throw refuseSignIn('sign_in_denied', 'Your account is disabled. Ask an administrator.');
    }
    return this.login.continueExternal(account, from, this.cipher.seal(idToken, SEAL_PURPOSE));
  }

  openToken(sealed: string): string {
    return this.cipher.open(sealed, SEAL_PURPOSE);
  }

  recordDenial(account: Pick<LinkedAccount, 'username'> | null, { address, request_id }: BrowserInfo): void {
    const target = account?.username ?? 'an unknown account';
    this.security.record({ event: 'login.refused', target, address, request_id: request_id ?? null });
  }
}

/** Returns a valid name that resembles the given one. */
function toUsername(given: string): string {
  const text = given
    .normalize('NFC')
    .replace(/[\p{C}:]/gu, '')
    .replace(/^(#|lic_|\s)+/iu, '');
  const name = Array.from(text).slice(0, 60).join('').trim();
  return 'problem' in checkUsername(name) ? 'user' : name;
}
