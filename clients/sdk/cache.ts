/**
 * `<cacheDir>/aos-cache.json` (contract 90, SDK): the last answers, for the time without the server. Schema 3 is written, schema 2
 * read as well; everything else is a miss and never an exception. Written whole or not at all, so that
 * processes which share a folder never read half a file.
 */
import { isLicenseStatus, type LicenseStatus } from '../shared/license-status.js';
import type { Store } from './store.js';

export interface CachedLicense {
  license_status: LicenseStatus;
  key_sha256: string;
  /** By this machine's clock. */
  checked_at: string;
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
  license: CachedLicense | null;
  update: CachedUpdate | null;
  /** The latest time that this machine's clock has shown, in milliseconds. */
  highestSeen: number;
}

const NAME = 'aos-cache.json';
const LONGEST = 4 * 1024 * 1024;
const MISS: CacheState = { license: null, update: null, highestSeen: 0 };

export class Cache {
  constructor(
    private readonly store: Store,
    private readonly product: string,
  ) {}

  read(): CacheState {
    const it = this.#parsed();
    if (it === null || it['product'] !== this.product) return MISS;
    if (it['schema'] === 2) return { ...MISS, license: licenseOf({ ...it, legacy: true }) };
    if (it['schema'] !== 3) return MISS;
    const seen = Date.parse(String(it['highest_seen']));
    return {
      license: licenseOf(it),
      update: isRecord(it['update']) ? updateOf(it['update']) : null,
      highestSeen: Number.isNaN(seen) ? 0 : seen,
    };
  }

  /** Replaces what is named. A folder that cannot be written to costs the cache and nothing else. */
  write(change: Partial<CacheState>): void {
    const { license, update, highestSeen } = { ...this.read(), ...change };
    const highest_seen = new Date(highestSeen).toISOString();
    const text = JSON.stringify({ schema: 3, product: this.product, ...license, highest_seen, update });
    if (text.length <= LONGEST) this.store.put(NAME, text);
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

function licenseOf(it: Record<string, unknown>): CachedLicense | null {
  const { license_status, key_sha256, checked_at, cache_ttl_hours, expires_at, machine_id, answer } = it;
  if (!isLicenseStatus(license_status) || typeof key_sha256 !== 'string' || typeof checked_at !== 'string') return null;
  if (typeof cache_ttl_hours !== 'number' || Number.isNaN(Date.parse(checked_at))) return null;
  return {
    license_status,
    key_sha256: key_sha256.toLowerCase(),
    checked_at,
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
