/**
 * Authorizes reads below `/releases/` (contract 40, files). Only the lines of the product's access
 * file decide, as for a web server in front.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { MINUTE_MS } from '../../../lib/time.js';
import type { BasicCredentials, BasicGuard, BasicRequest, BasicVerdict } from '../../../ports/http.js';
import { ACCESS_DEPS, type AccessDeps } from './deps.js';
import { parseHtpasswd } from './files.js';
import { AccessFiles } from './generator.js';

/** A verified credential is not hashed again for this long while its line is unchanged. */
const VERIFIED_MS = 5 * MINUTE_MS;
const LICENSE = /^lic_[0-9a-f]{16}$/;
/**
 * A bcrypt hash of a discarded random text at the cost of license keys: a missing line takes as
 * long as a wrong key.
 */
const NO_LICENSE = '$2y$08$abcdefghijklmnopqrstuuVWXYZ0123456789abcdefghijklmnopq';

const ASK = 'Name a license key of this product, or an account (roles admin, installer or member).';

@injectable()
export class StoreGuard implements BasicGuard {
  readonly realm = 'Releases';
  readonly #lines: BoundedMap<{ tag: string; entries: ReadonlyMap<string, string> }>;
  readonly #verified: BoundedMap<true>;
  /** Key of the cache digests; the cache never stores a password. */
  readonly #secret = randomBytes(32);

  constructor(
    @inject(ACCESS_DEPS) private readonly deps: AccessDeps,
    @inject(AccessFiles) private readonly files: AccessFiles,
  ) {
    const now = (): number => deps.clock.monotonic();
    this.#lines = new BoundedMap({ most: 200 });
    this.#verified = new BoundedMap({ most: 10_000, ttlMs: VERIFIED_MS, now });
  }

  async judge(given: BasicCredentials | null, request: BasicRequest, pressed = false): Promise<BasicVerdict> {
    const segments = getPathSegments(request);
    if (segments.some((segment) => segment.startsWith('.ht')))
      return { open: false, code: 'insufficient_scope', message: 'Access files are not served.' };
    const product = segments[0] ?? '';
    if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(product)) return OPEN;
    if ((await this.deps.store.access.tag(product, '.htaccess')) === null) {
      const isOpen = this.files.wasProtected(product) || (await this.deps.store.open(segments)) === null;
      return isOpen ? OPEN : refused(`The access files of "${product}" are not written yet.`);
    }
    if (given === null) return refused(ASK);
    const entries = await this.#entries(product);
    if (given.username.startsWith('lic_')) {
      const line = entries.get(given.username) ?? null;
      // A throttled caller whose key has no line is rejected without hashing.
      const fits = (line !== null || !pressed) && (await this.#keyFits(given, line));
      return fits ? { open: true, username: given.username } : refused(`The license key opens nothing here. ${ASK}`);
    }
    return this.#account(given, entries.get(given.username) ?? null, request);
  }

  /**
   * A license key determines its user name: a wrong pair is rejected without hashing, so guesses
   * cost nothing.
   */
  async #keyFits({ username, password }: BasicCredentials, line: string | null): Promise<boolean> {
    const digest = createHash('sha256').update(password).digest('hex').slice(0, 16);
    if (LICENSE.test(username) && username !== `lic_${digest}`) return false;
    return this.#fits(password, line, NO_LICENSE);
  }

  async #account(given: BasicCredentials, line: string | null, request: BasicRequest): Promise<BasicVerdict> {
    const { username, password } = given;
    const { address, id } = request;
    try {
      const fits = await this.deps.attempts.attempt({ username, address, request_id: id }, () =>
        this.#fits(password, line, null),
      );
      if (fits) return { open: true, username };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
      const retry_after = Number(error.headers?.['retry-after'] ?? 1);
      return { open: false, code: 'rate_limited', message: error.message, retry_after };
    }
    return refused(
      `The account "${shown(username)}" was refused. Every enabled account opens the release store with its password (roles admin, installer, member); a license key of this product is the other way.`,
    );
  }

  /**
   * @param none the hash verified for a missing line, so that timing reveals nothing; null for one
   *   at the cost of accounts
   */
  async #fits(password: string, line: string | null, none: string | null): Promise<boolean> {
    const digest = line === null ? null : this.#digest(line, password);
    if (digest !== null && this.#verified.get(digest) === true) return true;
    const hash = line === null ? none : line.slice(line.indexOf(':') + 1);
    const { ok } = await this.deps.hasher.verify(password, hash);
    if (!ok || digest === null) return false;
    this.#verified.set(digest, true);
    return true;
  }

  #digest(line: string, password: string): string {
    return createHmac('sha256', this.#secret).update(`${line}\n${password}`).digest('base64');
  }

  async #entries(product: string): Promise<ReadonlyMap<string, string>> {
    const { store } = this.deps;
    const tag = await store.access.tag(product, '.htpasswd');
    if (tag === null) return new Map();
    const held = this.#lines.get(product);
    if (held?.tag === tag) return held.entries;
    const entries = parseHtpasswd((await store.access.read(product, '.htpasswd')) ?? '');
    this.#lines.set(product, { tag, entries });
    return entries;
  }
}

/** Returns the path segments; guard and handler share them, so both check the same path. */
export const getPathSegments = ({ params }: Pick<BasicRequest, 'params'>): string[] =>
  (params['path'] ?? '').split('/');

const OPEN: BasicVerdict = { open: true, username: null };
const refused = (message: string): BasicVerdict => ({ open: false, code: 'unauthorized', message });
const shown = (name: string): string => name.replaceAll(/[\p{Cc}\p{Cf}"]/gu, '').slice(0, 64);
