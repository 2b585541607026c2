/**
 * Invitations of members: a link with a random token that creates one account with the role of the
 * invitation. Accepting changes the state first, so that of parallel requests one wins.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound, ServiceError } from '../../../kernel/errors.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import { AccountService } from '../accounts/accounts.js';
import { checkProfile, isEmail } from '../accounts/profile.js';
import { AuditService } from '../audit/audit.js';
import { isActiveAdmin, ROLES, toEmailKey, toUsernameKey, type Account } from '../model/account.js';
import { computeSha256 } from '../model/token.js';
import { SignInPolicy } from '../policy/sign-in-policy.js';
import { InvitationMailer } from './invitation-mail.js';
import {
  getFaultSentence,
  INVITATION_LIFETIME_MS,
  isHigherRole,
  type Invitation,
  type InvitationFault,
} from './invitation.js';

const MAX_PENDING_SHOWN = 200;
const RETENTION_MS = 30 * DAY_MS;
const TOKEN_LENGTH = 43;

export interface NewInvitation {
  email: string;
  role: string;
  full_name: string;
}

/** The link is shown once. */
export interface SentInvitation {
  invitation: Invitation;
  link: string;
  /** Whether a mail is on its way. */
  mailed: boolean;
}

export interface PendingInvitation {
  invitation: Invitation;
  expired: boolean;
  /** Whether the inviter's account may still invite. */
  vouched: boolean;
}

@injectable()
export class InvitationService {
  constructor(
    @inject(collection<Invitation>('invitations')) private readonly rows: Collection<Invitation>,
    @inject(collection<Account>('accounts')) private readonly accountRows: Collection<Account>,
    @inject(AccountService) private readonly accounts: AccountService,
    @inject(SignInPolicy) private readonly policy: SignInPolicy,
    @inject(AuditService) private readonly audit: AuditService,
    @inject(InvitationMailer) private readonly mailer: InvitationMailer,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
  ) {}

  get canMail(): boolean {
    return this.mailer.isConfigured;
  }

  /**
   * @throws ServiceError validation_failed; conflict when the address has an account or a pending
   *   invitation
   */
  async invite(by: SessionPrincipal, given: NewInvitation): Promise<SentInvitation> {
    const fields: Record<string, string> = {};
    const role = ROLES.find((known) => known === given.role);
    if (role === undefined) fields['role'] = `must be one of ${ROLES.join(', ')}`;
    else this.#checkRole(by, role, fields);
    const { full_name = null } = checkProfile({ full_name: given.full_name }, fields);
    const email = given.email.normalize('NFC').trim();
    if (!isEmail(email)) fields['email'] = 'must be an e-mail address, for example ada@example.com';
    if (role === undefined || Object.keys(fields).length > 0) throw invalid(fields);
    await this.#requireFreeAddress(email);
    const secret = this.ids.secret(TOKEN_LENGTH);
    const now = this.clock.iso();
    const invitation: Invitation = {
      id: this.ids.uuid(),
      token_hash: computeSha256(secret),
      email,
      email_key: toEmailKey(email),
      full_name,
      role,
      state: 'pending',
      invited_by_id: by.account_id,
      invited_by: by.username,
      created_at: now,
      expires_at: this.#getExpiry(),
      accepted_at: null,
    };
    await this.rows.insert(invitation);
    await this.audit.record(by, 'invitation.created', email, { role, expires_at: invitation.expires_at });
    return this.#send(invitation, secret);
  }

  /**
   * Sends a new link; the previous one stops working.
   * @throws ServiceError not_found, conflict, validation_failed (role)
   */
  async resend(by: SessionPrincipal, id: string): Promise<SentInvitation> {
    const { role, token_hash } = await this.#getPending(id);
    const fields: Record<string, string> = {};
    this.#checkRole(by, role, fields);
    if (Object.keys(fields).length > 0) throw invalid(fields);
    const secret = this.ids.secret(TOKEN_LENGTH);
    const set = {
      token_hash: computeSha256(secret),
      invited_by_id: by.account_id,
      invited_by: by.username,
      expires_at: this.#getExpiry(),
    };
    const changed = await this.rows.change({ id, state: 'pending', token_hash }, { set });
    if (changed === null) throw createChangedError();
    await this.mailer.drop(changed.doc);
    await this.audit.record(by, 'invitation.resent', changed.doc.email, { role, expires_at: set.expires_at });
    return this.#send(changed.doc, secret);
  }

  /** @throws ServiceError not_found, conflict */
  async revoke(by: SessionPrincipal, id: string): Promise<Invitation> {
    await this.#getPending(id);
    const changed = await this.rows.change({ id, state: 'pending' }, { set: { state: 'revoked' } });
    if (changed === null) throw createChangedError();
    await this.mailer.drop(changed.doc);
    await this.audit.record(by, 'invitation.revoked', changed.doc.email, { role: changed.doc.role });
    return changed.doc;
  }

  /** Newest first, with those that expired. */
  async listPending(): Promise<PendingInvitation[]> {
    const query = { filter: { state: 'pending' }, sort: [['created_at', 'desc']], limit: MAX_PENDING_SHOWN } as const;
    const { items } = await this.rows.find(query);
    const toPending = async (invitation: Invitation): Promise<PendingInvitation> => {
      const fault = await this.#findFault(invitation);
      return { invitation, expired: fault === 'expired', vouched: fault !== 'inviter' };
    };
    return Promise.all(items.map(toPending));
  }

  /** Finds the invitation of a link, or why it does not work. */
  async find(secret: string): Promise<{ invitation: Invitation } | { fault: InvitationFault }> {
    return this.#findByHash(computeSha256(secret));
  }

  /** Key under which a sign-in at a provider carries the invitation. */
  getKey(secret: string): string {
    return computeSha256(secret);
  }

  /**
   * @throws ServiceError validation_failed, conflict (name), password_disabled; `InvitationEnded`
   */
  async accept(
    secret: string,
    given: { username: string; password: string; full_name: string },
  ): Promise<{ account: Account; invitation: Invitation }> {
    const hash = computeSha256(secret);
    const { role, email } = await this.#requireValid(hash);
    this.policy.requirePassword(role);
    await this.#requireFreeName(given.username);
    const id = this.ids.uuid();
    return this.#redeem(hash, async () => {
      await this.accounts.create('system', { ...given, role, email, email_verified: true }, id);
      return this.accounts.getAccount(id);
    });
  }

  /**
   * Creates the account of a provider's user.
   * @param key of `getKey`
   * @param email verified by the provider
   * @returns null when the invitation is for another address
   * @throws `InvitationEnded`
   */
  async acceptExternal<T extends { username: string }>(
    key: string,
    email: string | null,
    create: (invitation: Invitation) => Promise<T>,
  ): Promise<T | null> {
    const invitation = await this.#requireValid(key);
    if (email === null || toEmailKey(email) !== invitation.email_key) return null;
    return (await this.#redeem(key, () => create(invitation))).account;
  }

  async sweep(): Promise<number> {
    return this.rows.remove({ expires_at: { lt: toIsoString(this.clock.now() - RETENTION_MS) } }, 1000);
  }

  async #redeem<T extends { username: string }>(
    token_hash: string,
    create: () => Promise<T>,
  ): Promise<{ account: T; invitation: Invitation }> {
    const accepted = { state: 'accepted', accepted_at: this.clock.iso() } as const;
    const changed = await this.rows.change({ token_hash, state: 'pending' }, { set: accepted });
    if (changed === null) {
      const found = await this.#findByHash(token_hash);
      throw new InvitationEnded('fault' in found ? found.fault : 'accepted');
    }
    const invitation = changed.doc;
    try {
      const account = await create();
      await this.audit.record('system', 'invitation.accepted', invitation.email, {
        username: account.username,
        role: invitation.role,
        invited_by: invitation.invited_by,
      });
      return { account, invitation };
    } catch (error) {
      // For another name or password; a fault of the store leaves the invitation used.
      if (error instanceof ServiceError)
        await this.rows.change({ id: invitation.id, ...accepted }, { set: { state: 'pending', accepted_at: null } });
      throw error;
    }
  }

  async #requireValid(token_hash: string): Promise<Invitation> {
    const found = await this.#findByHash(token_hash);
    if ('fault' in found) throw new InvitationEnded(found.fault);
    return found.invitation;
  }

  async #findByHash(token_hash: string): Promise<{ invitation: Invitation } | { fault: InvitationFault }> {
    const { items } = await this.rows.find({ filter: { token_hash }, limit: 1 });
    const [invitation] = items;
    if (invitation === undefined) return { fault: 'unknown' };
    const fault = await this.#findFault(invitation);
    return fault === null ? { invitation } : { fault };
  }

  async #findFault({ state, expires_at, invited_by_id, role }: Invitation): Promise<InvitationFault | null> {
    if (state !== 'pending') return state;
    if (expires_at <= this.clock.iso()) return 'expired';
    const inviter = await this.accountRows.get(invited_by_id);
    return inviter === null || !isActiveAdmin(inviter) || isHigherRole(role, inviter.role) ? 'inviter' : null;
  }

  #checkRole(by: SessionPrincipal, role: Account['role'], fields: Record<string, string>): void {
    const { password, provider } = this.policy.listSignInMethods(role);
    if (isHigherRole(role, by.role)) fields['role'] = 'must not be higher than your own role';
    else if (!password && !provider) fields['role'] = 'cannot sign in with the sign-in methods of this service';
  }

  async #requireFreeAddress(email: string): Promise<void> {
    const email_key = toEmailKey(email);
    const { items: accounts } = await this.accountRows.find({ filter: { email_key }, limit: 1 });
    const fields = (text: string) => ({ fields: { email: text } });
    if (accounts[0] !== undefined) {
      const text = `belongs to the account ${accounts[0].username}`;
      throw conflict(`This address ${text}.`, fields(text));
    }
    const { items } = await this.rows.find({ filter: { email_key }, limit: MAX_PENDING_SHOWN });
    if (items.some(({ state }) => state === 'pending')) {
      const text = 'has a pending invitation: resend or revoke it';
      throw conflict(`This address ${text}.`, fields(text));
    }
  }

  /** Before the invitation is used: the name is the most common reason to choose again. */
  async #requireFreeName(username: string): Promise<void> {
    const filter = { username_key: toUsernameKey(username) };
    if ((await this.accountRows.find({ filter, limit: 1 })).items.length > 0)
      throw conflict(`The username ${username} is taken.`, { fields: { username: 'is taken' } });
  }

  async #getPending(id: string): Promise<Invitation> {
    const invitation = await this.rows.get(id);
    if (invitation === null) throw notFound(`invitation ${id}`);
    if (invitation.state !== 'pending') throw createChangedError();
    return invitation;
  }

  async #send(invitation: Invitation, secret: string): Promise<SentInvitation> {
    return { invitation, ...(await this.mailer.send(invitation, secret)) };
  }

  #getExpiry(): string {
    return toIsoString(this.clock.now() + INVITATION_LIFETIME_MS);
  }
}

/** The link of an invitation does not work, or not any more. */
export class InvitationEnded extends Error {
  constructor(readonly fault: InvitationFault) {
    super(getFaultSentence(fault));
  }
}

const createChangedError = (): ServiceError =>
  conflict('This invitation was accepted, revoked or sent again in the meantime.');
