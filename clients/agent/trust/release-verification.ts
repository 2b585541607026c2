/**
 * Verifies that an offered release may be installed, with each comparison of contract 90, update.
 */
import { createHash } from 'node:crypto';
import { compareVersions } from '../../../lib/versions.js';
import {
  parseFreshness,
  findFreshnessFault,
  isLowerVersionPermitted,
  type FreshnessStatement,
} from '../../../lib/formats/freshness.js';
import {
  findIdentityMismatch,
  InvalidManifest,
  readManifest,
  type ReleaseManifest,
} from '../../../lib/formats/manifest.js';
import { isPlatform } from '../../../lib/formats/platform.js';
import { isSignedBy, type VerifyingKey } from '../../../lib/formats/signature.js';
import { AgentFailure } from '../exit.js';

export interface SignedStatement {
  statement: string;
  signature: string;
}

export interface VerifiedRelease {
  manifest: ReleaseManifest;
  bytes: Buffer;
}

export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const createUnverifiedFailure = (why: string, cause?: unknown): AgentFailure =>
  new AgentFailure('unverified', why, { cause });

export function parseManifest(bytes: Buffer): ReleaseManifest {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text, 'utf8').equals(bytes)) throw createUnverifiedFailure('the manifest is not UTF-8');
  try {
    return readManifest(text);
  } catch (error) {
    if (error instanceof InvalidManifest) throw createUnverifiedFailure(error.message, error);
    throw error;
  }
}

export interface RequestedRelease {
  product: string;
  channel: string;
  platform: string;
  version: string;
  packageSha256: string;
  packageSize: number;
}

/**
 * A signature proves its author, not that it is the requested one (arbitrary software,
 * mix-and-match).
 */
export function compareWithRequest(manifest: ReleaseManifest, requested: RequestedRelease): void {
  const { platform } = requested;
  if (!isPlatform(platform)) throw createUnverifiedFailure(`the platform ${platform} is unknown`);
  const field = findIdentityMismatch(manifest, { ...requested, platform, sha256: requested.packageSha256 });
  if (field !== null) throw createUnverifiedFailure(`${field} of the manifest does not match the request`);
  if (manifest.package.size !== requested.packageSize)
    throw createUnverifiedFailure('package.size of the manifest does not match the offer');
}

/** The highest versions of a machine, which an offer must not fall below. */
export interface VersionFloor {
  installed: string | null;
  highest: string | null;
}

/**
 * @param permits whether the signed statement permits giving up a higher version (contract 97,
 *   rollback)
 */
export function checkNotOlder(
  version: string,
  { installed, highest }: VersionFloor,
  permits: (higher: string) => boolean,
): void {
  const isBelow = (higher: string): boolean => compareVersions(version, higher) < 0 && !permits(higher);
  if (installed !== null && (compareVersions(version, installed) === 0 || isBelow(installed)))
    throw createUnverifiedFailure(`${version} is not newer than the installed ${installed}`);
  if (highest !== null && isBelow(highest))
    throw createUnverifiedFailure(`${version} is older than ${highest}, which was already installed here`);
}

export function checkStepReached({ version, min_version: least }: ReleaseManifest, installed: string | null): void {
  if (least !== null && installed !== null && compareVersions(least, installed) > 0)
    throw createUnverifiedFailure(`${version} requires ${least} or newer to be installed first`);
}

export interface FreshnessInput {
  signed: SignedStatement | null;
  key: VerifyingKey | null;
  product: string;
  channel: string;
  platform: string;
  current: string;
  offered: { version: string; manifestSha256: string } | null;
  newestWanted: boolean;
  newestSeen: string | null;
  now: number;
}

/** Returns why the offer is not confirmed as current, or the verified statement. */
export function verifyFreshness(
  input: FreshnessInput,
): { why: string; missing: boolean } | { statement: FreshnessStatement } {
  const { signed, key, platform } = input;
  if (signed === null) return { why: 'the server provides no freshness statement', missing: true };
  if (key === null) return { why: 'the freshness statement cannot be verified without a key', missing: true };
  if (!isSignedBy(key, Buffer.from(signed.statement, 'utf8'), signed.signature))
    return { why: 'the signature of the freshness statement is not valid', missing: false };
  const statement = parseFreshness(signed.statement);
  if (statement === null || !isPlatform(platform))
    return { why: 'the freshness statement cannot be read', missing: false };
  const why = findFreshnessFault(statement, { ...input, platform });
  return why === null ? { statement } : { why, missing: false };
}

/** Returns whether a verified statement permits the release in place of a higher version. */
export function createRollbackCheck(
  statement: FreshnessStatement | null,
  platform: string,
  { version, manifestSha256 }: { version: string; manifestSha256: string },
): (higher: string) => boolean {
  return (higher) =>
    statement !== null &&
    isPlatform(platform) &&
    isLowerVersionPermitted(statement, platform, { version, manifestSha256 }, higher);
}
