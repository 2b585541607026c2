/**
 * Shared by pages and command line (contract 10, accounts). Every action is in the audit log before
 * the response.
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
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import type { PasswordHasher } from '../../../ports/hasher.js';
import type { Role } from '../../../ports/http/index.js';
import { StoreConflict } from '../../../ports/store/index.js';
import {
  toAccountView,
  checkUsername,
  ROLES,
  toUsernameKey,
  type Account,
  type AccountView,
  type ExternalIdentity,
} from '../model/account.js';
import { AuditService } from '../audit/audit.js';
import type { Actor, AuditFields } from '../../../ports/domain/audit.js';
import { isTimeZone } from '../../../lib/local-time.js';
import { findPasswordProblem } from '../model/password.js';
import { checkProfile, toIdentityKey, type AccountProfile } from './profile.js';
import { AdminRoster } from './roster.js';
import { SessionService } from '../sessions/sessions.js';
import { AccountChangeNotifier } from './account-change-notifier.js';

export interface NewAccount extends AccountProfile {
  username: string;
  role: string;
  password: string;
}

/** An account without a password, for a provider's. */
export interface NewExternalAccount extends AccountProfile {
  username: string;
  role: Role;
  identity: ExternalIdentity;
}

export const EMPTY_TOTP_FIELDS = { totp_secret: null, totp_pending: null, totp_step: null, totp_recovery: [] };

@injectable()
export class AccountService {
  constructor(
    @inject(collection<Account>('accounts')) private readonly rows: Collection<Account>,
    @inject(AdminRoster) private readonly roster: AdminRoster,
    @inject(SessionService) private readonly sessions: SessionService,
    @inject(PORT.hasher) private readonly hasher: PasswordHasher,
    @inject(AuditService) private readonly audit: AuditService,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(AccountChangeNotifier) private readonly watchers: AccountChangeNotifier,
  ) {}

  /**
   * @throws ServiceError validation_failed (username, role, password); conflict when the name is
   *   taken.
   */
  async create(actor: Actor, input: NewAccount, id: string = this.ids.uuid()): Promise<AccountView> {
    const fields: Record<string, string> = {};
    const name = checkUsername(input.username);
    if ('problem' in name) fields['username'] = name.problem;
    const role = ROLES.find((known) => known === input.role);
    if (role === undefined) fields['role'] = `must be one of ${ROLES.join(', ')}`;
    const problem = findPasswordProblem(input.password, input.username);
    if (problem !== null) fields['password'] = problem;
    const profile = checkProfile(input, fields);
    if ('problem' in name || role === undefined || Object.keys(fields).length > 0) throw invalid(fields);
    const account = await this.#insert(id, { username: name.username, role, password: input.password, ...profile });
    await this.#announce(actor, account, { role });
    return toAccountView(account);
  }

  /**
   * Creates an account that only a provider or a passkey signs in.
   * @throws ServiceError validation_failed (username); conflict when the name is taken
   */
  async createExternal(actor: Actor, input: NewExternalAccount): Promise<Account> {
    const name = checkUsername(input.username);
    if ('problem' in name) throw invalid({ username: name.problem });
    const { role, identity } = input;
    const account = await this.#insert(this.ids.uuid(), {
      username: name.username,
      role,
      // Nobody knows it.
      password: this.ids.secret(43),
      has_password: false,
      identity,
      identity_key: toIdentityKey(identity),
      ...checkProfile(input, {}),
    });
    await this.#announce(actor, account, { role, issuer: identity.issuer });
    return account;
  }

  /** Sorted by name. */
  async listPage(limit: number, after: string | null = null): Promise<{ items: AccountView[]; next: string | null }> {
    const page = await this.rows.find({ sort: [['username_key', 'asc']], limit, after });
    return { items: page.items.map(toAccountView), next: page.next };
  }

  async list(): Promise<AccountView[]> {
    return (await this.listPage(1000)).items;
  }

  /** @throws ServiceError not_found */
  async getAccount(id: string): Promise<Account> {
    const account = await this.rows.get(id);
    if (account === null) throw notFound(`account ${id}`);
    return account;
  }

  /**
   * Ignores case.
   * @throws ServiceError not_found
   */
  async findByUsername(username: string): Promise<Account> {
    const page = await this.rows.find({ filter: { username_key: toUsernameKey(username) }, limit: 1 });
    const account = page.items[0];
    if (account === undefined) throw notFound(`account ${username}`);
    return account;
  }

  /**
   * Ends the sessions when the role changes.
   * @throws ServiceError validation_failed, conflict
   */
  async setRole(actor: Actor, id: string, given: string): Promise<AccountView> {
    const role = ROLES.find((known) => known === given);
    if (role === undefined) throw invalid({ role: `must be one of ${ROLES.join(', ')}` });
    const account = await this.getAccount(id);
    if (account.role === role) return toAccountView(account);
    const update = { set: { role }, inc: { epoch: 1 } };
    const { before, after } = await this.roster.changeRights(id, role !== 'admin', { update });
    await this.sessions.clear(id);
    await this.audit.record(
      actor,
      'user.role_changed',
      account.username,
      {},
      {
        before: { role: before.role },
        after: { role },
      },
    );
    await this.watchers.notifyChanged();
    return toAccountView(after ?? before);
  }

  /**
   * Disabling ends the sessions.
   * @throws ServiceError conflict for the last active administrator
   */
  async setDisabled(actor: Actor, id: string, disabled: boolean): Promise<AccountView> {
    const account = await this.getAccount(id);
    if (account.disabled === disabled) return toAccountView(account);
    const update = { set: { disabled }, inc: { epoch: 1 } };
    const { before, after } = await this.roster.changeRights(id, disabled, { update });
    await this.sessions.clear(id);
    await this.audit.record(
      actor,
      disabled ? 'user.disabled' : 'user.enabled',
      account.username,
      {},
      {
        before: { disabled: before.disabled },
        after: { disabled },
      },
    );
    await this.watchers.notifyChanged();
    return toAccountView(after ?? before);
  }

  /** @throws ServiceError conflict for the last active administrator */
  async remove(actor: Actor, id: string): Promise<void> {
    const { before } = await this.roster.changeRights(id, true, { remove: true });
    await this.sessions.clear(id);
    await this.audit.record(actor, 'user.deleted', before.username, { role: before.role });
    await this.watchers.notifyChanged();
  }

  /**
   * Ends all sessions.
   * @throws ServiceError validation_failed with `field`
   */
  async setPassword(actor: Actor, id: string, password: string, field = 'password'): Promise<AccountView> {
    const account = await this.getAccount(id);
    const problem = findPasswordProblem(password, account.username);
    if (problem !== null) throw invalid({ [field]: problem });
    const set = {
      password_hash: await this.hasher.hash(password),
      password_changed_at: this.clock.iso(),
      has_password: true,
    };
    const changed = await this.rows.change({ id }, { set, inc: { epoch: 1 } });
    if (changed === null) throw notFound(`account ${id}`);
    await this.sessions.clear(id);
    await this.audit.record(
      actor,
      'user.password_changed',
      account.username,
      {},
      {
        before: { password: 'set' },
        after: { password: 'set' },
      },
    );
    await this.watchers.notifyChanged();
    return toAccountView(changed.doc);
  }

  /**
   * Null means the service's.
   * @throws ServiceError validation_failed, not_found
   */
  async setClock(id: string, clock: { timezone: string | null; hours: 12 | 24 | null }): Promise<void> {
    if (clock.timezone !== null && !isTimeZone(clock.timezone))
      throw invalid({ timezone: 'is not a time zone; choose one from the list' });
    if ((await this.rows.change({ id }, { set: clock })) === null) throw notFound(`account ${id}`);
  }

  /**
   * Sets name and address, for which the caller vouches.
   * @throws ServiceError validation_failed, not_found
   */
  async setProfile(actor: Actor, id: string, given: AccountProfile): Promise<AccountView> {
    const fields: Record<string, string> = {};
    const set = checkProfile(given, fields);
    if (Object.keys(fields).length > 0) throw invalid(fields);
    const before = await this.getAccount(id);
    const changed = await this.rows.change({ id }, { set });
    if (changed === null) throw notFound(`account ${id}`);
    const toFields = ({ full_name = null, email = null }: Account): AuditFields => ({ full_name, email });
    await this.audit.record(
      actor,
      'user.profile_changed',
      before.username,
      {},
      { before: toFields(before), after: toFields(changed.doc) },
    );
    return toAccountView(changed.doc);
  }

  /** For lost devices and recovery codes: removes passkeys too, and ends the account's sessions. */
  async resetTotp(actor: Actor, id: string): Promise<AccountView> {
    const set = { ...EMPTY_TOTP_FIELDS, passkeys: [] };
    const changed = await this.rows.change({ id }, { set, inc: { epoch: 1, passkeys_rev: 1 } });
    if (changed === null) throw notFound(`account ${id}`);
    await this.sessions.clear(id);
    await this.audit.record(
      actor,
      'user.totp_reset',
      changed.doc.username,
      {},
      {
        before: { totp: 'set' },
        after: { totp: null },
      },
    );
    return toAccountView(changed.doc);
  }

  async #announce(actor: Actor, { id, username, role }: Account, details: AuditFields): Promise<void> {
    // After a crash, the reconciler adds the administrator.
    if (role === 'admin') await this.roster.refreshEntry(id);
    await this.audit.record(actor, 'user.created', username, details);
    await this.watchers.notifyChanged();
  }

  async #insert(
    id: string,
    { password, ...given }: Partial<Account> & { username: string; role: Role; password: string },
  ): Promise<Account> {
    const now = this.clock.iso();
    const { username } = given;
    const account: Account = {
      ...given,
      id,
      username,
      username_key: toUsernameKey(username),
      disabled: false,
      password_hash: await this.hasher.hash(password),
      epoch: 0,
      rights_rev: 0,
      ...EMPTY_TOTP_FIELDS,
      created_at: now,
      last_login_at: null,
      password_changed_at: now,
    };
    try {
      await this.rows.insert(account);
    } catch (error) {
      if (error instanceof StoreConflict) throw conflict(`The username ${username} is taken.`);
      throw error;
    }
    return account;
  }
}
