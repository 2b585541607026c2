/** For a channel and a product (contract 40, files), and a channel's statement (freshness). */
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { PLATFORMS, type Platform } from '../../../lib/formats/platform.js';
import { isFullyRolledOut, getLatestRelease, type ChannelReleases, type ChannelRollback } from './channel-releases.js';

export const STATEMENT_LIFETIME_MS = 7 * DAY_MS;

export interface LatestEntry {
  version: string;
  platform: Platform;
  published_at: string;
  package_size: number;
  package_sha256: string;
  signed: boolean;
  key_id: string | null;
  withdrawn_at: string | null;
}

export interface LatestDocument {
  schema: 1;
  product: string;
  channel: string;
  generated_at: string;
  latest: string | null;
  releases: LatestEntry[];
}

/**
 * Lists newest first, never truncated.
 * @param at RFC 3339
 */
export function buildLatestDocument(
  product: string,
  channel: string,
  known: ChannelReleases,
  at: string,
): LatestDocument {
  const releases = [...known.listAll()];
  return {
    schema: 1,
    product,
    channel,
    generated_at: at,
    latest: releases.find(isFullyRolledOut)?.version ?? null,
    releases: releases.map((one) => ({
      version: one.version,
      platform: one.platform,
      published_at: one.published_at,
      package_size: one.package_size,
      package_sha256: one.package_sha256,
      signed: one.manifest_signature !== null,
      key_id: one.key_id,
      withdrawn_at: one.withdrawn_at,
    })),
  };
}

export interface StatementContent {
  latest: Record<Platform, { version: string; manifest_sha256: string } | null>;
  steps: { version: string; min_version: string }[];
  rollback: ChannelRollback | null;
}

export function buildStatementContent(known: ChannelReleases): StatementContent {
  const views = known.getViews();
  const latest = PLATFORMS.map((platform) => {
    const release = getLatestRelease(views[platform]);
    const { version = '', manifest_sha256 = '' } = release ?? {};
    return [platform, release === null ? null : { version, manifest_sha256 }] as const;
  });
  const rollback = known.getRollback(views);
  return { latest: Object.fromEntries(latest) as StatementContent['latest'], steps: known.listSteps(), rollback };
}

/**
 * Returns the exact bytes to sign.
 * @param now milliseconds
 */
export function formatStatement(product: string, channel: string, content: StatementContent, now: number): string {
  const { latest, steps, rollback } = content;
  const times = { issued_at: toIsoString(now), expires_at: toIsoString(now + STATEMENT_LIFETIME_MS) };
  return JSON.stringify({
    schema: 1,
    product,
    channel,
    latest,
    steps,
    ...(rollback === null ? {} : { rollback }),
    ...times,
  });
}
