/**
 * A sub-token is always checked together with its parent, so that a revocation ends it immediately
 * (contract 10, tokens). The revocation is copied to sub-tokens for lists only.
 */
import {
  PORT,
  collection,
  inject,
  injectable,
  token,
  type Clock,
  type Collection,
  type Ids,
} from '../../../kernel/contract/index.js';
import { conflict, invalid, notFound } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { buildElapsedFilter, hasElapsed } from '../../../lib/clock-skew.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import type {
  IssuedToken,
  NewToken,
  TokenIssuer,
  TokenPurposeResolver,
  TokenRecord,
} from '../../../ports/domain/tokens.js';
import { CATALOG, type ServiceCatalog } from '../../../ports/domain/system.js';
import type { TokenKind, TokenPrincipal } from '../../../ports/http/index.js';
import type { Filter } from '../../../ports/store/index.js';
import type { Account } from '../model/account.js';
import { BackgroundTasks } from '../background-tasks.js';
import {
  isLive,
  TOKEN_PREFIXES,
  computeSha256,
  toTokenPrincipal,
  toTokenRecord,
  type TokenDoc,
} from '../model/token.js';

interface NewTokenWithExpiry extends NewToken {
  /** Takes precedence over `expires_in_seconds`. */
  expires_at?: string | null;
}

/** Live sub-tokens of one master (contract 00, limits). */
export const MAX_CHILD_TOKENS = 1_000;
const TOUCH_INTERVAL_MS = 60_000;
const MAX_TOUCHED_TOKENS = 10_000;

export const PURPOSE_PROVIDERS = token<() => readonly TokenPurposeResolver[]>('access.purposes');

@injectable()
export class TokenService implements TokenIssuer {
  /** Monotonic time by document id; limits writes to one per minute. */
  readonly #touched = new BoundedMap<number>({ most: MAX_TOUCHED_TOKENS });
  readonly #provisioning = new KeyedMutex();

  constructor(
    @inject(collection<TokenDoc>('tokens')) private readonly rows: Collection<TokenDoc>,
    @inject(PORT.clock) private readonly clock: Clock,
    @inject(PORT.ids) private readonly ids: Ids,
    @inject(CATALOG) private readonly catalog: Pick<ServiceCatalog, 'listScopes'>,
    @inject(BackgroundTasks) private readonly background: BackgroundTasks,
    @inject(collection<Account>('accounts')) private readonly accounts: Collection<Account>,
    @inject(PURPOSE_PROVIDERS) private readonly purposes: () => readonly TokenPurposeResolver[],
  ) {}

  /** Returns null when the secret is unknown, expired or revoked. */
  async verify(secret: string): Promise<TokenPrincipal | null> {
    const doc = await this.rows.get(computeSha256(secret));
    const now = this.clock.iso();
    if (doc === null || !isLive(doc, now)) return null;
    if (doc.parent_hash !== null) {
      const parent = await this.rows.get(doc.parent_hash);
      if (parent === null || !isLive(parent, now)) return null;
    }
    if (!(await this.#isNeeded(doc))) return null;
    this.#touch(doc);
    const { account_id = null } = doc;
    if (account_id === null) return toTokenPrincipal(doc);
    const account = await this.accounts.get(account_id);
    if (account === null || account.disabled || account.epoch !== doc.account_epoch) return null;
    return toTokenPrincipal(doc, { id: account.id, username: account.username, role: account.role });
  }

  /** Revokes the token permanently if its purpose is gone. */
  async #isNeeded({ id, purpose }: Readonly<TokenDoc>): Promise<boolean> {
    if (purpose === undefined) return true;
    const decides = this.purposes().find(({ kind }) => kind === purpose.kind);
    if (decides === undefined) return false;
    const state = await decides.getState(purpose);
    if (state !== 'ended') return state === 'active';
    await this.rows.change({ id, revoked_at: null }, { set: { revoked_at: this.clock.iso() } });
    return false;
  }

  /** @throws ServiceError validation_failed with `scopes` */
  checkScopes(scopes: readonly string[]): void {
    const known = this.catalog.listScopes();
    const unknown = scopes.filter((scope) => !known.includes(scope));
    if (unknown.length > 0)
      throw invalid({ scopes: `unknown: ${unknown.join(', ')}; must be one of ${known.join(', ')}` });
  }

  issue(input: NewTokenWithExpiry): Promise<IssuedToken> {
    return this.#insert(input, null);
  }

  /**
   * One at a time per master. It counts after the insert, so that concurrent processes never exceed
   * the limit; both may be rejected.
   * @throws ServiceError conflict at 1,000 live ones
   */
  issueChild(parent: TokenDoc, input: NewTokenWithExpiry): Promise<IssuedToken> {
    return this.#provisioning.run(parent.id, async () => {
      const made = await this.#insert(input, parent);
      const live = { parent_id: parent.token_id, expires_at: { gt: this.clock.iso() }, revoked_at: null };
      if ((await this.rows.count(live)) <= MAX_CHILD_TOKENS) return made;
      await this.rows.remove({ id: computeSha256(made.token) });
      throw conflict(
        `The master token has ${MAX_CHILD_TOKENS} live sub-tokens. Revoke some, or use a shorter lifetime.`,
      );
    });
  }

  async #insert(input: NewTokenWithExpiry, parent: TokenDoc | null): Promise<IssuedToken> {
    this.checkScopes(input.scopes);
    if (input.kind === 'watchdog' && !input.source) throw invalid({ source: 'is required for a watchdog token' });
    const secret = TOKEN_PREFIXES[input.kind] + this.ids.secret(43);
    const seconds = input.expires_in_seconds ?? null;
    const after = seconds === null ? null : new Date(this.clock.now() + seconds * 1000).toISOString();
    const doc: TokenDoc = {
      id: computeSha256(secret),
      token_id: this.ids.uuid(),
      name: input.name,
      kind: input.kind,
      prefix: secret.slice(0, 12),
      scopes: [...new Set(input.scopes)],
      project: input.project ?? null,
      source: input.source ?? null,
      ...(input.agent && { agent: input.agent }),
      ...(input.purpose !== undefined && { purpose: input.purpose }),
      parent_id: parent?.token_id ?? null,
      parent_hash: parent?.id ?? null,
      ...(input.account === undefined ? {} : { account_id: input.account.id, account_epoch: input.account.epoch }),
      created_by: input.created_by,
      created_at: this.clock.iso(),
      expires_at: input.expires_at ?? after,
      last_used_at: null,
      revoked_at: null,
    };
    await this.rows.insert(doc);
    return { id: doc.token_id, token: secret, expires_at: doc.expires_at };
  }

  /** Also true when already revoked. */
  async revoke(id: string): Promise<boolean> {
    const doc = await this.findDoc(id);
    if (doc === null) return false;
    const revoked = { set: { revoked_at: this.clock.iso() } };
    await this.rows.change({ id: doc.id, revoked_at: null }, revoked);
    await this.rows.changeMany({ parent_id: id, revoked_at: null }, revoked);
    return true;
  }

  async revokeBySource(source: string): Promise<number> {
    return this.rows.changeMany({ source, revoked_at: null }, { set: { revoked_at: this.clock.iso() } });
  }

  async removeByProject(slug: string): Promise<void> {
    await this.rows.remove({ kind: { in: Object.keys(TOKEN_PREFIXES) }, project: slug });
  }

  /** Also invalidates its sub-tokens. */
  async remove(id: string): Promise<boolean> {
    const found = await this.revoke(id);
    return found && (await this.rows.remove({ token_id: id })) > 0;
  }

  async find(id: string): Promise<TokenRecord | null> {
    const doc = await this.findDoc(id);
    return doc === null ? null : toTokenRecord(doc);
  }

  /** @throws ServiceError not_found */
  async getToken(id: string): Promise<TokenRecord> {
    const record = await this.find(id);
    if (record === null) throw notFound(`token ${id}`);
    return record;
  }

  async findDoc(id: string): Promise<TokenDoc | null> {
    const page = await this.rows.find({ filter: { token_id: id }, limit: 1 });
    return page.items[0] ?? null;
  }

  async list(filter: { kind: TokenKind; project?: string; source?: string }): Promise<TokenRecord[]> {
    return (await this.listPage(filter, 1000)).items;
  }

  /** Newest first. */
  async listPage(
    filter: { kind: TokenKind; project?: string; source?: string },
    limit: number,
    after: string | null = null,
  ): Promise<{ items: TokenRecord[]; next: string | null; count: () => Promise<number> }> {
    const where: Filter = { kind: filter.kind };
    if (filter.project !== undefined) where['project'] = filter.project;
    if (filter.source !== undefined) where['source'] = filter.source;
    const page = await this.rows.find({ filter: where, sort: [['created_at', 'desc']], limit, after });
    return { items: page.items.map(toTokenRecord), next: page.next, count: () => this.rows.count(where) };
  }

  /** Matches by full name or visible prefix. */
  async named(text: string, limit: number): Promise<TokenRecord[]> {
    const by = async (field: 'name' | 'prefix'): Promise<readonly TokenDoc[]> =>
      (await this.rows.find({ filter: { [field]: text }, limit })).items;
    const found = (await Promise.all([by('name'), by('prefix')])).flat();
    return [...new Map(found.map((doc) => [doc.id, doc])).values()].slice(0, limit).map(toTokenRecord);
  }

  /** Includes revoked sub-tokens. */
  async countChildren(ids: readonly string[]): Promise<Map<string, number>> {
    const counts = await this.rows.groupCount('parent_id', { parent_id: { in: ids } });
    return new Map(counts.map(({ key, n }) => [String(key), n]));
  }

  async sweep(before: string): Promise<number> {
    const kind = { in: ['sub', 'setup'] };
    const expired = await this.rows.remove({ kind, expires_at: { lt: before } }, 1000);
    return expired + (await this.rows.remove({ kind, revoked_at: { lt: before } }, 1000));
  }

  #touch(doc: TokenDoc): void {
    const began = this.clock.monotonic();
    if (began - (this.#touched.get(doc.id) ?? -Infinity) < TOUCH_INTERVAL_MS) return;
    const now = this.clock.now();
    if (doc.last_used_at !== null && !hasElapsed(doc.last_used_at, TOUCH_INTERVAL_MS, now)) return;
    this.#touched.set(doc.id, began);
    const old = buildElapsedFilter('last_used_at', TOUCH_INTERVAL_MS, now);
    const stale: Filter = { id: doc.id, or: [{ last_used_at: null }, ...old.or] };
    this.background.run('last_used_at', () => this.rows.change(stale, { set: { last_used_at: this.clock.iso() } }));
  }
}
