/**
 * Validates licenses online, from the cache and from files (contract 50; contract 90, SDK:
 * `validateLicense`, `loadLicenseFile`).
 */
import { normalizeLicenseKey } from '../../lib/formats/license-key.js';
import { isLicenseStatus, isValidStatus, type LicenseStatus } from '../../lib/formats/license-status.js';
import type { AnswerResult, LicenseFault, LicenseFileResult } from '../../lib/formats/license-text.js';
import type { CachedLicense } from './cache.js';
import type { ClientContext } from './context.js';
import { isClockSetBack, isWithinGrace } from './grace.js';
import { createRandomId } from './runtime.js';
import { verifyWithKeys } from './trust.js';
import { evaluateLicenseResponse } from './verdict.js';

export interface LicenseQuestion {
  /** Default: this machine. Null names no machine and takes no slot. */
  machineId?: string | null;
  /** At most 128 characters. Default: a random one when a public key is known. */
  nonce?: string;
}

/** Lease of a seat; validate again before it ends, or use `holdSeat`. */
export interface SeatLease {
  id: string;
  /** RFC 3339, by the server's clock. */
  expiresAt: string;
}

export interface LicenseCheck {
  /** The license's status, the error code of a definite rejection, or null when unknown. */
  status: LicenseStatus | (string & {}) | null;
  /** True for an active license, and in its grace period (`grace`). */
  valid: boolean;
  /** True when the server's signature was verified with `licensePublicKey`. */
  verified: boolean;
  /** True when there was no definite answer; retry later. */
  isTransient: boolean;
  fromCache: boolean;
  /**
   * Seat of this machine; null when no seat is free. Absent for a license that is not floating.
   */
  lease?: SeatLease | null;
  /** Seats in use, of a floating license. */
  seats?: { used: number; max: number | null };
  /** Named features in force; absent without any. */
  entitlements?: readonly { name: string; until: string | null }[];
  /** RFC 3339; an expired license is valid until then, with the status `grace`. */
  graceUntil?: string;
  /** Signed warnings of the server, such as `machine_id_unstable: …`; absent without any. */
  warnings?: readonly string[];
}

/**
 * `clock_set_back`: the clock shows an earlier time than before. `unreadable`: the file does not
 * exist.
 */
export interface LoadedLicenseFile extends Omit<LicenseFileResult, 'reason'> {
  reason?: LicenseFault | 'clock_set_back' | 'unreadable';
}

const UNKNOWN_LICENSE: LicenseCheck = {
  status: null,
  valid: false,
  verified: false,
  isTransient: true,
  fromCache: false,
};

export async function validateLicense(
  context: ClientContext,
  key: string,
  { machineId, nonce }: LicenseQuestion = {},
  signal?: AbortSignal,
): Promise<LicenseCheck> {
  const { project, licenseKeys, cache, now, host } = context;
  // An unset variable counts as no license.
  const given = typeof key === 'string' ? key : '';
  const machine = machineId === undefined ? await context.machine() : { id: machineId, isStable: true };
  const query: ValidationQuery = {
    keySha256: await host.computeSha256(normalizeLicenseKey(given)),
    product: project,
    machineId: machine.id,
    nonce: nonce ?? (licenseKeys.length > 0 ? createRandomId() : null),
  };
  const body = {
    license_key: given,
    product: project,
    platform: host.platform,
    ...(machine.id !== null && { machine_id: machine.id }),
    ...(!machine.isStable && { machine_unstable: true }),
    ...(query.nonce !== null && { nonce: query.nonce }),
  };
  const askedAt = now();
  const verdict = evaluateLicenseResponse(await context.ask('POST', '/api/license/v1/validate', { body, signal }));
  if (verdict.kind === 'refused')
    return { status: verdict.problem.code, valid: false, verified: false, isTransient: false, fromCache: false };
  if (verdict.kind === 'transient') return checkCache(context, query);
  const verified = licenseKeys.length > 0;
  if (verified) {
    const verify = (pems: readonly string[]): Promise<AnswerResult> => host.verifyAnswer(verdict.body, pems, query);
    if (!(await verifyWithKeys(context, verify, { online: true, signal })).valid) return checkCache(context, query);
  }
  const status = verdict.body['status'] as LicenseStatus;
  const at = now();
  await cache.writeLicense(toCachedLicense(verdict.body, status, query, at, verified), { askedAt, highestSeen: at });
  const { warnings } = verdict.body;
  return {
    status,
    valid: isValidStatus(status),
    verified,
    isTransient: false,
    fromCache: false,
    ...parseSeatFields(verdict.body),
    ...(Array.isArray(warnings) && warnings.length > 0 && { warnings: warnings.map(String) }),
  };
}

function parseSeatFields(
  answer: Record<string, unknown>,
): Pick<LicenseCheck, 'lease' | 'seats' | 'entitlements' | 'graceUntil'> {
  const { seats, entitlements, grace_until } = answer;
  const lease = parseLease(answer['lease']);
  return {
    ...(typeof seats === 'object' && seats !== null && { seats: seats as NonNullable<LicenseCheck['seats']>, lease }),
    ...(Array.isArray(entitlements) && {
      entitlements: entitlements as NonNullable<LicenseCheck['entitlements']>,
    }),
    ...(typeof grace_until === 'string' && { graceUntil: grace_until }),
  };
}

function parseLease(lease: unknown): SeatLease | null {
  const { id, expires_at } = (lease ?? {}) as { id?: unknown; expires_at?: unknown };
  return typeof id === 'string' && typeof expires_at === 'string' ? { id, expiresAt: expires_at } : null;
}

interface ValidationQuery {
  keySha256: string;
  product: string;
  machineId: string | null;
  nonce: string | null;
}

function toCachedLicense(
  answer: Record<string, unknown>,
  license_status: LicenseStatus,
  { keySha256, machineId }: ValidationQuery,
  now: number,
  verified: boolean,
): CachedLicense {
  const { checked_at, cache_ttl_hours, expires_at } = answer;
  return {
    license_status,
    key_sha256: keySha256,
    checked_at: new Date(now).toISOString(),
    answered_at: typeof checked_at === 'string' ? checked_at : null,
    cache_ttl_hours: typeof cache_ttl_hours === 'number' ? cache_ttl_hours : 0,
    expires_at: typeof expires_at === 'string' ? expires_at : null,
    machine_id: machineId,
    grace_until: typeof answer['grace_until'] === 'string' ? answer['grace_until'] : null,
    lease_expires_at: parseLease(answer['lease'])?.expiresAt ?? null,
    answer: verified ? answer : null,
    legacy: false,
  };
}

/** Returns the cached answer while it is valid. */
async function checkCache(context: ClientContext, query: ValidationQuery): Promise<LicenseCheck> {
  const { cache, now, legacyCache } = context;
  const { highestSeen } = cache.read();
  const license = cache.getLicense(query.keySha256, query.machineId);
  const at = now();
  // Recorded in any case: otherwise a clock set back after the grace period would extend it.
  await cache.recordTime(at);
  if (license === null || (license.legacy && !legacyCache)) return UNKNOWN_LICENSE;
  const known = license.legacy ? toUnverifiedAnswer(license) : await verifyCached(context, license, query);
  if (known === null) return UNKNOWN_LICENSE;
  const { status, verified } = known;
  if (!isValidStatus(status)) return { ...UNKNOWN_LICENSE, status, verified, fromCache: true };
  // By this machine's clock, even if the server's differs.
  const seen = Math.max(highestSeen, Date.parse(license.checked_at));
  const { expiresAt, graceUntil, leaseExpiresAt } = known;
  const isUsable = isWithinGrace({ ...known, expiresAt: graceUntil ?? expiresAt }, at);
  // Another machine may have the seat by now.
  const isSeatLost = leaseExpiresAt !== null && !(at < Date.parse(leaseExpiresAt));
  if (isClockSetBack(at, seen) || !isUsable || isSeatLost) return UNKNOWN_LICENSE;
  const isExpired = expiresAt !== null && at >= Date.parse(expiresAt);
  return { status: isExpired ? 'grace' : status, valid: true, verified, isTransient: true, fromCache: true };
}

interface TrustedAnswer {
  status: LicenseStatus;
  verified: boolean;
  checkedAt: number;
  ttlHours: number;
  expiresAt: string | null;
  graceUntil: string | null;
  leaseExpiresAt: string | null;
}

const toUnverifiedAnswer = ({
  license_status,
  checked_at,
  cache_ttl_hours,
  expires_at,
  grace_until,
  lease_expires_at,
}: CachedLicense): TrustedAnswer => ({
  status: license_status,
  verified: false,
  checkedAt: Date.parse(checked_at),
  ttlHours: cache_ttl_hours,
  expiresAt: expires_at,
  graceUntil: grace_until,
  leaseExpiresAt: lease_expires_at,
});

/**
 * With a public key only signed data counts, because other members of the file could have been
 * changed.
 */
async function verifyCached(
  context: ClientContext,
  license: CachedLicense,
  query: ValidationQuery,
): Promise<TrustedAnswer | null> {
  const { licenseKeys, host } = context;
  if (licenseKeys.length === 0) return toUnverifiedAnswer(license);
  const { answer } = license;
  if (answer === null) return null;
  const nonce = typeof answer['nonce'] === 'string' ? answer['nonce'] : null;
  const verify = (pems: readonly string[]): Promise<AnswerResult> =>
    host.verifyAnswer(answer, pems, { ...query, nonce });
  if (!(await verifyWithKeys(context, verify, { online: false })).valid) return null;
  const { status, checked_at, cache_ttl_hours, expires_at, grace_until } = answer;
  if (!isLicenseStatus(status)) return null;
  return {
    status,
    verified: true,
    checkedAt: Date.parse(String(checked_at)),
    ttlHours: Number(cache_ttl_hours),
    expiresAt: typeof expires_at === 'string' ? expires_at : null,
    graceUntil: typeof grace_until === 'string' ? grace_until : null,
    leaseExpiresAt: parseLease(answer['lease'])?.expiresAt ?? null,
  };
}

/** @param file the path of a `.lic`, or its text */
export async function loadLicenseFile(context: ClientContext, file: string): Promise<LoadedLicenseFile> {
  const { project, cache, now, host } = context;
  const text = file.includes('-----BEGIN') ? file : await host.readText(file);
  if (text === null) return { valid: false, reason: 'unreadable' };
  const at = now();
  const checks = { product: project, machineId: await context.machineId(), now: at };
  const verify = (pems: readonly string[]): Promise<LicenseFileResult> => host.verifyLicenseFile(text, pems, checks);
  const result = await verifyWithKeys(context, verify, { online: true });
  const { highestSeen } = cache.read();
  await cache.recordTime(at);
  if (result.payload !== undefined && isClockSetBack(at, highestSeen))
    return { valid: false, payload: result.payload, reason: 'clock_set_back' };
  return result;
}
