/**
 * Only the lines of the product's access file decide, as for a web server in front (contract 40,
 * files).
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { inject, injectable, type Clock, type PasswordHasher } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { MINUTE_MS } from '../../../lib/time.js';
import type { BasicCredentials, BasicGuard, BasicRequest, BasicDecision } from '../../../ports/http/index.js';
import { ACCESS_FILES_DEPS } from './deps.js';
import { parseHtpasswd } from './access-file-texts.js';
import { AccessFileGenerator } from './access-file-generator.js';
import { isSelfTest, SELF_TEST_HEADER } from './self-test-signature.js';
import { toStoredSegments } from './release-files.js';
import type { LoginAttemptLimiter } from '../../../ports/domain/access.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

/** A verified credential is not hashed again while its line is unchanged. */
const VERIFIED_CACHE_MS = 5 * MINUTE_MS;
const LICENSE_USER_PATTERN = /^lic_[0-9a-f]{16}$/;
/**
 * Of a discarded random text at the cost of license keys: a missing line takes as long as a wrong
 * key.
 */
const DUMMY_LICENSE_HASH = '$2y$08$abcdefghijklmnopqrstuuVWXYZ0123456789abcdefghijklmnopq';

const CREDENTIALS_HINT = 'Use a license key of this product, or an account (roles admin, installer or member).';

@injectable()
export class StoreGuard implements BasicGuard {
  readonly realm = 'Releases';
  readonly #lines: BoundedMap<{ tag: string; entries: ReadonlyMap<string, string> }>;
  readonly #verified: BoundedMap<true>;
  /** For cache digests; the cache never stores a password. */
  readonly #secret = randomBytes(32);

  constructor(
    @inject(ACCESS_FILES_DEPS.store) private readonly store: ReleaseStore,
    @inject(ACCESS_FILES_DEPS.clock) private readonly clock: Clock,
    @inject(ACCESS_FILES_DEPS.hasher) private readonly hasher: PasswordHasher,
    @inject(ACCESS_FILES_DEPS.attempts) private readonly attempts: LoginAttemptLimiter,
    @inject(ACCESS_FILES_DEPS.selfTestKey) private readonly selfTestKey: Buffer,
    @inject(AccessFileGenerator) private readonly files: AccessFileGenerator,
  ) {
    const now = (): number => clock.monotonic();
    this.#lines = new BoundedMap({ most: 200 });
    this.#verified = new BoundedMap({ most: 10_000, ttlMs: VERIFIED_CACHE_MS, now });
  }

  async authorize(given: BasicCredentials | null, request: BasicRequest, pressed = false): Promise<BasicDecision> {
    const decision = await this.#decide(given, request, pressed);
    if (decision.open || given !== null) return decision;
    const { selfTestKey, clock } = this;
    const isOwn = isSelfTest(selfTestKey, getStorePath(request), clock.now(), request.headers[SELF_TEST_HEADER]);
    return isOwn ? { ...decision, isExpected: true } : decision;
  }

  async #decide(given: BasicCredentials | null, request: BasicRequest, pressed: boolean): Promise<BasicDecision> {
    const segments = getPathSegments(request);
    if (segments.some((segment) => segment.startsWith('.ht')))
      return { open: false, code: 'insufficient_scope', message: 'Access files are not served.' };
    const product = segments[0] ?? '';
    if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(product)) return OPEN_VERDICT;
    if ((await this.store.access.getTag(product, '.htaccess')) === null) {
      const isOpen = this.files.wasProtected(product) || (await this.store.open(toStoredSegments(segments))) === null;
      return isOpen ? OPEN_VERDICT : createDeniedVerdict(`The access files of "${product}" have not been written yet.`);
    }
    if (given === null) return createDeniedVerdict(CREDENTIALS_HINT);
    const entries = await this.#loadEntries(product);
    if (given.username.startsWith('lic_')) {
      const line = entries.get(given.username) ?? null;
      // A throttled caller without a line is rejected without hashing.
      const fits = (line !== null || !pressed) && (await this.#verifyLicenseKey(given, line));
      return fits
        ? { open: true, username: given.username }
        : createDeniedVerdict(`The license key has no access here. ${CREDENTIALS_HINT}`);
    }
    return this.#verifyAccount(given, entries.get(given.username) ?? null, request);
  }

  /**
   * A key determines its user name: a wrong pair is rejected without hashing, so guesses cost
   * nothing.
   */
  async #verifyLicenseKey({ username, password }: BasicCredentials, line: string | null): Promise<boolean> {
    const digest = createHash('sha256').update(password).digest('hex').slice(0, 16);
    if (LICENSE_USER_PATTERN.test(username) && username !== `lic_${digest}`) return false;
    return this.#verifyHash(password, line, DUMMY_LICENSE_HASH);
  }

  async #verifyAccount(given: BasicCredentials, line: string | null, request: BasicRequest): Promise<BasicDecision> {
    const { username, password } = given;
    const { address, id } = request;
    try {
      const fits = await this.attempts.run({ username, address, request_id: id }, () =>
        this.#verifyHash(password, line, null),
      );
      if (fits) return { open: true, username };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'rate_limited') throw error;
      const retry_after = Number(error.headers?.['retry-after'] ?? 1);
      return { open: false, code: 'rate_limited', message: error.message, retry_after };
    }
    return createDeniedVerdict(
      `The account "${formatUsername(username)}" was denied. Use an enabled account (roles admin, installer, member) with its password, or a license key of this product.`,
    );
  }

  /**
   * @param none hash verified for a missing line, so that timing reveals nothing; null for one at
   *   the cost of accounts
   */
  async #verifyHash(password: string, line: string | null, none: string | null): Promise<boolean> {
    const digest = line === null ? null : this.#computeDigest(line, password);
    if (digest !== null && this.#verified.get(digest) === true) return true;
    const hash = line === null ? none : line.slice(line.indexOf(':') + 1);
    const { ok } = await this.hasher.verify(password, hash);
    if (!ok || digest === null) return false;
    this.#verified.set(digest, true);
    return true;
  }

  #computeDigest(line: string, password: string): string {
    return createHmac('sha256', this.#secret).update(`${line}\n${password}`).digest('base64');
  }

  async #loadEntries(product: string): Promise<ReadonlyMap<string, string>> {
    const store = this.store;
    const tag = await store.access.getTag(product, '.htpasswd');
    if (tag === null) return new Map();
    const held = this.#lines.get(product);
    if (held?.tag === tag) return held.entries;
    const entries = parseHtpasswd((await store.access.read(product, '.htpasswd')) ?? '');
    this.#lines.set(product, { tag, entries });
    return entries;
  }
}

/** Guard and handler share them, so both check the same path. */
export const getPathSegments = ({ params }: Pick<BasicRequest, 'params'>): string[] =>
  (params['path'] ?? '').split('/');

/** Without what a proxy put in front. */
const getStorePath = ({ params }: Pick<BasicRequest, 'params'>): string => `/releases/${params['path'] ?? ''}`;

const OPEN_VERDICT: BasicDecision = { open: true, username: null };
const createDeniedVerdict = (message: string): BasicDecision => ({ open: false, code: 'unauthorized', message });
const formatUsername = (name: string): string => name.replaceAll(/[\p{Cc}\p{Cf}"]/gu, '').slice(0, 64);
