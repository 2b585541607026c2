/**
 * Writes schema 3 and also reads schema 2 (contract 90, SDK); everything else is a cache miss.
 * Atomic, serialized writes let processes share a folder.
 */
import { parseKeyChain, type KeyChain } from './key-chain.js';
import { isLicenseStatus, isValidStatus, type LicenseStatus } from '../../lib/formats/license-status.js';
import type { TextStore } from './store.js';

export interface CachedLicense {
  license_status: LicenseStatus;
  key_sha256: string;
  /** By this machine's clock. */
  checked_at: string;
  /** By the server's clock; null when an older client wrote it. */
  answered_at: string | null;
  cache_ttl_hours: number;
  expires_at: string | null;
  machine_id: string | null;
  grace_until: string | null;
  /** End of the seat of a floating license. */
  lease_expires_at: string | null;
  /** As signed by the server, when a public key was known. */
  answer: Record<string, unknown> | null;
  /** Written by a client of schema 2, without machines and signatures. */
  legacy: boolean;
}

export interface CachedUpdate {
  channel: string;
  platform: string;
  current_version: string;
  latest_version: string | null;
  release: Record<string, unknown> | null;
}

export interface CacheState {
  /** One per key and machine, newest first. */
  licenses: readonly CachedLicense[];
  update: CachedUpdate | null;
  /** Not verified; see trust.ts. */
  keyChain: KeyChain | null;
  /** The latest time that this machine's clock has shown, in milliseconds. */
  highestSeen: number;
}

/** Times of an answer by this machine's clock, in milliseconds since 1970. */
interface AnswerTimes {
  askedAt: number;
  highestSeen: number;
}

const CACHE_FILE = 'aos-cache.json';
const MAX_CACHE_LENGTH = 4 * 1024 * 1024;
/** Maximum cached license answers. */
const MAX_LICENSES = 8;
const EMPTY_CACHE: CacheState = { licenses: [], update: null, keyChain: null, highestSeen: 0 };

export class AnswerCache {
  constructor(
    private readonly store: TextStore,
    private readonly product: string,
  ) {}

  read(): CacheState {
    const it = this.#readJson();
    if (it === null || it['product'] !== this.product) return EMPTY_CACHE;
    if (it['schema'] === 2) return { ...EMPTY_CACHE, licenses: parseLicenses([{ ...it, legacy: true }]) };
    if (it['schema'] !== 3) return EMPTY_CACHE;
    const seen = Date.parse(String(it['highest_seen']));
    return {
      licenses: parseLicenses([it, ...(Array.isArray(it['others']) ? (it['others'] as unknown[]) : [])]),
      update: isRecord(it['update']) ? parseUpdate(it['update']) : null,
      keyChain: parseKeyChain(it['key_chain']),
      highestSeen: Number.isNaN(seen) ? 0 : seen,
    };
  }

  /** A write failure only disables caching. */
  async write(change: (kept: CacheState) => Partial<CacheState> | null): Promise<void> {
    await this.store.withLock(CACHE_FILE, () => this.#writeState(change(this.read())));
  }

  /** @returns false when nothing was stored */
  #writeState(change: Partial<CacheState> | null): boolean {
    if (change === null) return true;
    const { licenses, update, keyChain: key_chain, highestSeen } = { ...this.read(), ...change };
    const highest_seen = new Date(highestSeen).toISOString();
    const [newest, ...others] = licenses;
    const text = JSON.stringify({
      schema: 3,
      product: this.product,
      ...newest,
      others,
      key_chain,
      highest_seen,
      update,
    });
    return text.length <= MAX_CACHE_LENGTH && this.store.write(CACHE_FILE, text);
  }

  /** Records a time shown by this machine's clock. */
  recordTime(at: number): Promise<void> {
    return this.write(({ highestSeen }) => (at > highestSeen ? { highestSeen: at } : null));
  }

  /** Returns the answer for this key and machine; null without one. */
  getLicense(keySha256: string, machineId: string | null): CachedLicense | null {
    const wanted = (it: CachedLicense): boolean =>
      it.key_sha256 === keySha256 && (it.legacy || it.machine_id === machineId);
    return this.read().licenses.find(wanted) ?? null;
  }

  /**
   * When full, rejections are evicted before active answers, so that mistyped keys do not displace
   * a valid one; then the oldest. If a rejection cannot be stored, a contradicting cache is
   * deleted, so that it grants nothing.
   */
  async writeLicense(license: CachedLicense, { askedAt, highestSeen }: AnswerTimes): Promise<void> {
    const { key_sha256, machine_id } = license;
    const isSame = (it: CachedLicense): boolean =>
      it.key_sha256 === key_sha256 && (it.legacy || it.machine_id === machine_id);
    await this.store.withLock(CACHE_FILE, () => {
      const { licenses: before } = this.read();
      const same = before.filter(isSame);
      if (same.some((cached) => isNewer(cached, license, { askedAt, highestSeen }))) return;
      const licenses = [license, ...before.filter((it) => !isSame(it))];
      while (licenses.length > MAX_LICENSES) {
        const invalidIndex = licenses.findLastIndex(({ license_status }) => !isValidStatus(license_status));
        licenses.splice(invalidIndex, 1);
      }
      if (this.#writeState({ licenses, highestSeen }) || isValidStatus(license.license_status)) return;
      if (same.some((it) => isValidStatus(it.license_status))) this.store.remove(CACHE_FILE);
    });
  }

  #readJson(): Record<string, unknown> | null {
    try {
      const it: unknown = JSON.parse(this.store.read(CACHE_FILE) ?? '');
      return isRecord(it) ? it : null;
    } catch {
      return null;
    }
  }
}

/**
 * Returns true when a concurrent request was answered later by the server. A future time was
 * written before the clock moved backwards and is ignored.
 */
function isNewer(
  cached: CachedLicense,
  { answered_at: answered }: CachedLicense,
  { askedAt, highestSeen: now }: AnswerTimes,
): boolean {
  const keptAt = Date.parse(cached.checked_at);
  if (keptAt <= askedAt || keptAt > now || cached.answered_at === null || answered === null) return false;
  return Date.parse(cached.answered_at) > Date.parse(answered);
}

/** Keeps the first answer for each key and machine. */
function parseLicenses(list: readonly unknown[]): CachedLicense[] {
  const found = new Map<string, CachedLicense>();
  for (const license of list.slice(0, MAX_LICENSES).map(parseLicense)) {
    const name = license === null ? '' : JSON.stringify([license.key_sha256, license.machine_id]);
    if (license !== null && !found.has(name)) found.set(name, license);
  }
  return [...found.values()];
}

function parseLicense(it: unknown): CachedLicense | null {
  if (!isRecord(it)) return null;
  const { license_status, key_sha256, checked_at, cache_ttl_hours, expires_at, machine_id, answer } = it;
  const { answered_at } = it;
  if (!isLicenseStatus(license_status) || typeof key_sha256 !== 'string' || typeof checked_at !== 'string') return null;
  if (typeof cache_ttl_hours !== 'number' || Number.isNaN(Date.parse(checked_at))) return null;
  return {
    license_status,
    key_sha256: key_sha256.toLowerCase(),
    checked_at,
    answered_at: typeof answered_at === 'string' ? answered_at : null,
    cache_ttl_hours,
    expires_at: typeof expires_at === 'string' ? expires_at : null,
    machine_id: typeof machine_id === 'string' ? machine_id : null,
    grace_until: typeof it['grace_until'] === 'string' ? it['grace_until'] : null,
    lease_expires_at: typeof it['lease_expires_at'] === 'string' ? it['lease_expires_at'] : null,
    answer: isRecord(answer) ? answer : null,
    legacy: it['legacy'] === true,
  };
}

function parseUpdate(it: Record<string, unknown>): CachedUpdate | null {
  const { channel, platform, current_version, latest_version: latest, release } = it;
  if (typeof channel !== 'string' || typeof platform !== 'string' || typeof current_version !== 'string') return null;
  return {
    channel,
    platform,
    current_version,
    latest_version: typeof latest === 'string' ? latest : null,
    release: isRecord(release) ? release : null,
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
