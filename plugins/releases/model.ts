/** The plugin's stored documents (contract 40). */
import type { PackageRuntime } from '../../lib/formats/manifest.js';
import type { Platform } from '../../lib/formats/platform.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { ReleaseHalted, ReleasePublished, ReleaseRolledBack } from '../../ports/domain/releases.js';
import type { ProcessOwner } from '../../ports/processes.js';
import type { ReleaseLocation } from '../../ports/release-store.js';
import type { Doc } from '../../ports/store.js';

export interface ReleaseFields {
  product: string;
  channel: string;
  /** The version as first published; `1.2.0` published after `1.2` is the same release. */
  version: string;
  platform: Platform;
  /** The name by which `resolved_in_build` may refer to the release. */
  build: string | null;
  mandatory: boolean;
  rollout_percent: number;
  min_version: string | null;
  release_notes: string | null;
  published_at: string;
  published_by: string;
  /** Bytes. */
  package_size: number;
  package_sha256: string;
  manifest_sha256: string;
  /** Base64; null for an unsigned release. */
  manifest_signature: string | null;
  key_id: string | null;
  file_count: number;
  entry: string | null;
  runtime: PackageRuntime | null;
  preserve_patterns: string[];
  has_setup: boolean;
}

/**
 * A release: one product, channel, version and platform, from which its id derives
 * (release-place.ts).
 */
export interface ReleaseDoc extends Doc, ReleaseFields {
  withdrawn_at: string | null;
  withdrawn_reason: string | null;
  halted_at: string | null;
  halted_reason: string | null;
  /** When the rollout began or was resumed: earlier errors do not halt it. */
  rollout_at: string;
  downloads: number;
  created_at: string;
  /** Never decreases, so that delta readers see every change. */
  updated_at: string;
  rev: number;
  /** The product; present while the rollout may halt automatically. */
  rolling?: string;
  /** Time since when work is pending; absent when none is (docs/consistency.md, releases). */
  open_at?: string;
  /** Present while the files are being removed from the store. */
  withdrawing?: { reason: string; at: string };
  /** Present on a release that a rollback to an earlier version withdrew. */
  rolled_back?: { to: string; at: string };
  /** Present on the release that a rollback returns to, until all later ones are withdrawn. */
  rolling_back?: RollbackIntent;
  outbox: ReleaseOutboxEntry[];
}

export type ReleaseOutboxEntry = PublishedEntry | HaltedEntry | RolledBackEntry;

export interface RollbackIntent {
  reason: string;
  at: string;
  /** Null: all platforms. */
  platform: Platform | null;
}

export interface PublishedEntry {
  id: string;
  at: string;
  event: 'release.published';
  /** Data without the closed items, which are resolved when the event is sent. */
  data: Omit<ReleasePublished, 'closed_items' | 'closed_count'>;
}

export interface HaltedEntry {
  id: string;
  at: string;
  event: 'release.halted';
  data: ReleaseHalted;
}

export interface RolledBackEntry {
  id: string;
  at: string;
  event: 'release.rolled_back';
  data: ReleaseRolledBack;
}

export interface ManifestPart extends Doc {
  release_id: string;
  manifest_sha256: string;
  text: string;
}

export interface PublishDoc extends Doc, LeaseRow<ProcessOwner> {
  id: string;
  /** Written before the first rename: after a crash the intent is finished or undone. */
  intent?: PublishIntent | null;
}

export interface PublishIntent {
  staged: string | null;
  release: ReleaseFields;
}

/** The newest statement of a channel (contract 40, freshness). */
export interface StatementDoc extends Doc {
  product: string;
  channel: string;
  /** The exact signed bytes, as UTF-8. */
  statement: string;
  signature: string;
  key_id: string;
  issued_at: string;
  expires_at: string;
  updated_at: string;
  rev: number;
}

export const toStorePath = ({ product, channel, version, platform }: ReleaseFields): ReleaseLocation => ({
  product,
  channel,
  version,
  platform,
});
