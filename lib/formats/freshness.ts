/**
 * Freshness statements (contract 40, freshness; contract 90, freshness and key pinning). Verify the
 * signature over the exact bytes first.
 */
import { toIsoString, isTimestamp } from '../time.js';
import { compareVersions, isVersion } from '../versions.js';
import { PLATFORMS, type Platform } from './platform.js';

export interface FreshnessStatement {
  schema: 1;
  product: string;
  channel: string;
  /** By platform; null: no release. */
  latest: Readonly<Record<Platform, { version: string; manifest_sha256: string } | null>>;
  /** Required intermediate steps. */
  steps: readonly { version: string; min_version: string | null }[];
  rollback?: { from: string; to: string; at: string };
  issued_at: string;
  expires_at: string;
}

/** State of the machine against which a statement is validated. */
export interface FreshnessContext {
  product: string;
  channel: string;
  platform: Platform;
  /** Installed version, as sent with the update check. */
  current: string;
  /** Offered release; null: nothing newer. */
  offered: { version: string; manifestSha256: string } | null;
  /** An intermediate step is not acceptable. */
  newestWanted?: boolean;
  /** `issued_at` of the newest statement seen, or null. */
  newestSeen: string | null;
  /** Milliseconds since the epoch. */
  now: number;
}

/** Parses a statement; null unless it has schema 1. */
export function parseFreshness(text: string): FreshnessStatement | null {
  if (text.length > 1_000_000) return null;
  const it = parseJsonOrNull(text);
  if (!isRecord(it) || it['schema'] !== 1 || !isRecord(it['latest']) || !Array.isArray(it['steps'])) return null;
  const { product, channel, latest, issued_at: issued, expires_at: expires } = it;
  if (typeof product !== 'string' || typeof channel !== 'string' || !isTime(issued) || !isTime(expires)) return null;
  if (!PLATFORMS.every((platform) => isLatest(latest[platform])) || !isRollback(it['rollback'])) return null;
  return it['steps'].every(isStep) ? (it as unknown as FreshnessStatement) : null;
}

/** Returns why a statement does not confirm the update check's result, or null. */
export function findFreshnessFault(statement: FreshnessStatement, facts: FreshnessContext): string | null {
  const { product, channel, platform, current, offered, newestSeen, now } = facts;
  if (statement.product !== product) return 'The freshness statement is for another product.';
  if (statement.channel !== channel) return 'The freshness statement is for another channel.';
  const { issued_at, expires_at } = statement;
  // Reveals a wrong clock on either side.
  if (Date.parse(expires_at) <= now)
    return `The freshness statement expired at ${expires_at}; this machine’s clock says ${toIsoString(now)}.`;
  if (newestSeen !== null && Date.parse(issued_at) < Date.parse(newestSeen))
    return `The freshness statement, issued at ${issued_at}, is older than a previous one, issued at ${newestSeen}.`;
  const latest = statement.latest[platform];
  if (latest === null) return null;
  const reached = offered?.version ?? current;
  const stepped = facts.newestWanted !== true && isStepTo(statement.steps, latest.version, current, reached);
  if (compareVersions(latest.version, reached) > 0 && !stepped)
    return `The freshness statement is for version ${latest.version}, but the server offered ${offered?.version ?? 'nothing'}.`;
  if (offered !== null && compareVersions(latest.version, offered.version) === 0)
    return latest.manifest_sha256 === offered.manifestSha256
      ? null
      : `The freshness statement has a different manifest for ${offered.version}.`;
  return null;
}

/**
 * Returns whether a statement permits a lower version: it states a rollback that covers both, and
 * names the offered release as the newest.
 * @param statement verified, and without a fault
 * @param higher the version that is given up
 */
export function isLowerVersionPermitted(
  { rollback, latest }: FreshnessStatement,
  platform: Platform,
  offered: { version: string; manifestSha256: string },
  higher: string,
): boolean {
  const newest = latest[platform];
  return (
    rollback !== undefined &&
    newest !== null &&
    newest.manifest_sha256 === offered.manifestSha256 &&
    compareVersions(newest.version, offered.version) === 0 &&
    compareVersions(offered.version, rollback.to) >= 0 &&
    compareVersions(higher, rollback.from) <= 0
  );
}

/** Every step above the offered one must not be directly reachable (contract 40, publishing). */
function isStepTo(steps: FreshnessStatement['steps'], newest: string, current: string, reached: string): boolean {
  const above = steps.filter(({ version }) => compareVersions(version, reached) > 0);
  return (
    above.some(({ version }) => compareVersions(version, newest) === 0) &&
    above.every(({ min_version: min }) => min !== null && compareVersions(min, current) > 0)
  );
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTime = (value: unknown): boolean => typeof value === 'string' && isTimestamp(value);

const isVersionText = (value: unknown): boolean => typeof value === 'string' && isVersion(value);

const isLatest = (value: unknown): boolean =>
  value === null ||
  (isRecord(value) && isVersionText(value['version']) && /^[0-9a-f]{64}$/.test(String(value['manifest_sha256'])));

const isRollback = (value: unknown): boolean =>
  value === undefined ||
  (isRecord(value) && isVersionText(value['from']) && isVersionText(value['to']) && isTime(value['at']));

const isStep = (value: unknown): boolean =>
  isRecord(value) &&
  isVersionText(value['version']) &&
  (value['min_version'] === null || isVersionText(value['min_version']));
