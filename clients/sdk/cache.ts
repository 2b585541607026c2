/**
 * `<cacheDir>/aos-cache.json` (contract 90, SDK): the last answers, for the time without the server. Schema 3 is
 * written, schema 2 read as well; everything else is a miss and never an exception. Written whole or not at all, so
 * that processes which share a folder never read half a file, and one after the other, so that none takes back what
 * another has kept.
 *
 * The newest answer about a license lies flat, where clients before `others` look for the only one; those about other
 * keys and machines follow it. Such a client drops them when it writes, which costs their grace and nothing else.
 */
import { keyChainOf, type KeyChain } from './key-chain.js';
import { isLicenseStatus, type LicenseStatus } from '../../lib/formats/license-status.js';
import type { Store } from './store.js';

export interface CachedLicense {
  license_status: LicenseStatus;
  key_sha256: string;
  /** By this machine's clock. */
  checked_at: string;
  /** By the server's clock; null: a client wrote it that kept no such time. */
  answered_at: string | null;
  cache_ttl_hours: number;
  expires_at: string | null;
  machine_id: string | null;
  /** As the server signed it, where a public key was known. */
  answer: Record<string, unknown> | null;
  /** Written by a client of schema 2, which knew neither machines nor signatures. */
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
  /** Of each key and machine one, the newest first. */
  licenses: readonly CachedLicense[];
  update: CachedUpdate | null;
  /** Not verified: see trust.ts. */
  keyChain: KeyChain | null;
  /** The latest time that this machine's clock has shown, in milliseconds. */
  highestSeen: number;
}

/** Of an answer, by this machine's clock, in milliseconds since 1970. */
interface Asked {
  askedAt: number;
  highestSeen: number;
}

const NAME = 'aos-cache.json';
const LONGEST = 4 * 1024 * 1024;
/** More answers about licenses are not kept. */
const MAX_LICENSES = 8;
const MISS: CacheState = { licenses: [], update: null, keyChain: null, highestSeen: 0 };

export class Cache {
  constructor(
    private readonly store: Store,
    private readonly product: string,
  ) {}

  read(): CacheState {
    const it = this.#parsed();
    if (it === null || it['product'] !== this.product) return MISS;
    if (it['schema'] === 2) return { ...MISS, licenses: licensesOf([{ ...it, legacy: true }]) };
    if (it['schema'] !== 3) return MISS;
    const seen = Date.parse(String(it['highest_seen']));
    return {
      licenses: licensesOf([it, ...(Array.isArray(it['others']) ? (it['others'] as unknown[]) : [])]),
      update: isRecord(it['update']) ? updateOf(it['update']) : null,
      keyChain: keyChainOf(it['key_chain']),
      highestSeen: Number.isNaN(seen) ? 0 : seen,
    };
  }

  /**
   * Replaces what `change` names of what is kept by then; null: nothing. A folder that cannot be written to costs the
   * cache and nothing else.
   */
  async write(change: (kept: CacheState) => Partial<CacheState> | null): Promise<void> {
    await this.store.exclusively(NAME, () => this.#put(change(this.read())));
  }

  /** @returns false where nothing was kept */
  #put(change: Partial<CacheState> | null): boolean {
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
    return text.length <= LONGEST && this.store.put(NAME, text);
  }

  /** A time that this machine's clock showed. */
  noteTime(at: number): Promise<void> {
    return this.write(({ highestSeen }) => (at > highestSeen ? { highestSeen: at } : null));
  }

  /** The answer about this key on this machine; null: none is kept. */
  license(keySha256: string, machineId: string | null): CachedLicense | null {
    const wanted = (it: CachedLicense): boolean =>
      it.key_sha256 === keySha256 && (it.legacy || it.machine_id === machineId);
    return this.read().licenses.find(wanted) ?? null;
  }

  /**
   * Keeps an answer in the place of the earlier one about the same key and machine. Where there are too many, refusals
   * go before what is active, else mistyped keys would take the good one's place; then the oldest. A refusal that
   * cannot be kept, as on a full disk, takes the cache away where that says otherwise: nobody goes on by it.
   * @param askedAt when the question was sent, and `highestSeen` when this is kept, by this machine's clock
   */
  async writeLicense(license: CachedLicense, { askedAt, highestSeen }: Asked): Promise<void> {
    const { key_sha256, machine_id } = license;
    const isSame = (it: CachedLicense): boolean =>
      it.key_sha256 === key_sha256 && (it.legacy || it.machine_id === machine_id);
    await this.store.exclusively(NAME, () => {
      const { licenses: before } = this.read();
      const same = before.filter(isSame);
      if (same.some((kept) => isNewer(kept, license, { askedAt, highestSeen }))) return;
      const licenses = [license, ...before.filter((it) => !isSame(it))];
      while (licenses.length > MAX_LICENSES) {
        const refused = licenses.findLastIndex(({ license_status }) => license_status !== 'active');
        licenses.splice(refused, 1);
      }
      if (this.#put({ licenses, highestSeen }) || license.license_status === 'active') return;
      if (same.some((it) => it.license_status === 'active')) this.store.remove(NAME);
    });
  }

  #parsed(): Record<string, unknown> | null {
    try {
      const it: unknown = JSON.parse(this.store.read(NAME) ?? '');
      return isRecord(it) ? it : null;
    } catch {
      return null;
    }
  }
}

/**
 * Another process, or another call, asked while this question was under way, and the server answered it later. A time
 * that lies ahead was written before the clock was put back, and says nothing.
 */
function isNewer(
  kept: CachedLicense,
  { answered_at: answered }: CachedLicense,
  { askedAt, highestSeen: now }: Asked,
): boolean {
  const keptAt = Date.parse(kept.checked_at);
  if (keptAt <= askedAt || keptAt > now || kept.answered_at === null || answered === null) return false;
  return Date.parse(kept.answered_at) > Date.parse(answered);
}

/** Of each key and machine the first. */
function licensesOf(list: readonly unknown[]): CachedLicense[] {
  const found = new Map<string, CachedLicense>();
  for (const license of list.slice(0, MAX_LICENSES).map(licenseOf)) {
    const name = license === null ? '' : JSON.stringify([license.key_sha256, license.machine_id]);
    if (license !== null && !found.has(name)) found.set(name, license);
  }
  return [...found.values()];
}

function licenseOf(it: unknown): CachedLicense | null {
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
    answer: isRecord(answer) ? answer : null,
    legacy: it['legacy'] === true,
  };
}

function updateOf(it: Record<string, unknown>): CachedUpdate | null {
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
