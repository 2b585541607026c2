/**
 * Stored under the SHA-256 of the cookie; they end after 12 idle hours or 7 days (contract 10, web
 * session). Every request checks the account, so that a session ends when the account is disabled
 * or its epoch changes.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  type Clock,
  type Collection,
  type Doc,
  type Ids,
} from '../../../kernel/contract/index.js';
import { hasElapsed } from '../../../lib/clock-skew.js';
import type { SessionPrincipal } from '../../../ports/http/index.js';
import type { Account } from '../model/account.js';
import { BackgroundTasks } from '../background-tasks.js';
import { SignInPolicy } from '../policy/sign-in-policy.js';
import { computeSha256 } from '../model/token.js';

export const SESSION_COOKIE = 'svc_session';
export const SESSION_IDLE_TIMEOUT_MS = 12 * 3_600_000;
export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
const TOUCH_INTERVAL_MS = 60_000;

export interface SessionDoc extends Doc {
  account_id: string;
  epoch: number;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  address: string;
  user_agent: string;
  /** ID token of the provider that signed in, sealed; it names the session at the provider. */
  provider_token?: string;
}

export interface SessionView {
  id: string;
  current: boolean;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  address: string;
  user_agent: string;
}

@injectable()
export class SessionService {
  constructor(
    @inject(collection<SessionDoc>('sessions')) private readonly rows: Collection<SessionDoc>,
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(BackgroundTasks) private readonly background: BackgroundTasks,
    @inject(SignInPolicy) private readonly policy: SignInPolicy,
  ) {}

  async open(
    account: Pick<Account, 'id' | 'epoch'>,
    from: { address: string; userAgent?: string | undefined },
    providerToken?: string,
  ): Promise<string> {
    const cookie = this.ids.secret(43);
    const now = this.clock.iso();
    await this.rows.insert({
      id: computeSha256(cookie),
      account_id: account.id,
      epoch: account.epoch,
      created_at: now,
      last_seen_at: now,
      expires_at: new Date(this.clock.now() + SESSION_LIFETIME_MS).toISOString(),
      address: from.address,
      user_agent: (from.userAgent ?? '').slice(0, 200),
      ...(providerToken !== undefined && { provider_token: providerToken }),
    });
    return cookie;
  }

  async verify(cookie: string): Promise<SessionPrincipal | null> {
    if (!/^[0-9A-Za-z]{43}$/.test(cookie)) return null;
    const doc = await this.rows.get(computeSha256(cookie));
    if (doc === null || !this.#isUnexpired(doc)) return null;
    const account = await this.accounts.get(doc.account_id);
    if (account === null || account.disabled || account.epoch !== doc.epoch || account.role === 'installer')
      return null;
    this.#touch(doc);
    const { id: account_id, username, role, timezone, hours } = account;
    return {
      kind: 'session',
      session_id: doc.id,
      account_id,
      username,
      role,
      ...(timezone && { timezone }),
      ...(hours && { hours }),
      ...(this.policy.mustEnroll(account) && { must_enroll: true }),
    };
  }

  /** Whether the session began within the last `lifetimeMs`. */
  async isRecent(sessionId: string, lifetimeMs: number): Promise<boolean> {
    const doc = await this.rows.get(sessionId);
    return doc !== null && !hasElapsed(doc.created_at, lifetimeMs, this.clock.now());
  }

  async findProviderToken(sessionId: string): Promise<string | null> {
    return (await this.rows.get(sessionId))?.provider_token ?? null;
  }

  async end(sessionId: string): Promise<void> {
    await this.rows.remove({ id: sessionId });
  }

  async endOwn(accountId: string, sessionId: string): Promise<boolean> {
    return (await this.rows.remove({ id: sessionId, account_id: accountId })) > 0;
  }

  async clear(accountId: string): Promise<void> {
    await this.rows.remove({ account_id: accountId });
  }

  async list(account: Pick<Account, 'id' | 'epoch'>, currentId: string): Promise<SessionView[]> {
    const filter = { account_id: account.id, epoch: account.epoch };
    const page = await this.rows.find({ filter, sort: [['created_at', 'desc']], limit: 200 });
    return page.items
      .filter((doc) => this.#isUnexpired(doc))
      .map(({ id, created_at, last_seen_at, expires_at, address, user_agent }) => {
        return { id, current: id === currentId, created_at, last_seen_at, expires_at, address, user_agent };
      });
  }

  async sweep(): Promise<number> {
    const idle = new Date(this.clock.now() - SESSION_IDLE_TIMEOUT_MS).toISOString();
    return this.rows.remove({ or: [{ expires_at: { lte: this.clock.iso() } }, { last_seen_at: { lte: idle } }] }, 1000);
  }

  #isUnexpired(doc: SessionDoc): boolean {
    return (
      this.clock.iso() < doc.expires_at && this.clock.now() - Date.parse(doc.last_seen_at) < SESSION_IDLE_TIMEOUT_MS
    );
  }

  #touch(doc: SessionDoc): void {
    const { id, last_seen_at } = doc;
    if (!hasElapsed(last_seen_at, TOUCH_INTERVAL_MS, this.clock.now())) return;
    this.background.run('last_seen_at', () =>
      this.rows.change({ id, last_seen_at }, { set: { last_seen_at: this.clock.iso() } }),
    );
  }
}
