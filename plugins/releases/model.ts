import type { PackageRuntime } from '../../lib/formats/manifest.js';
import type { Platform } from '../../lib/formats/platform.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { ReleaseHalted, ReleasePublished, ReleaseRolledBack } from '../../ports/domain/releases.js';
import type { ProcessOwner } from '../../ports/processes.js';
import type { ReleaseLocation } from '../../ports/release-store.js';
import type { Doc } from '../../ports/store/index.js';

export interface ReleaseFields {
  product: string;
  channel: string;
  /** As first published; `1.2.0` published after `1.2` is the same release. */
  version: string;
  platform: Platform;
  /** `resolved_in_build` may refer to it. */
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
  /** Base64; null when unsigned. */
  manifest_signature: string | null;
  key_id: string | null;
  file_count: number;
  entry: string | null;
  runtime: PackageRuntime | null;
  preserve_patterns: string[];
  has_setup: boolean;
}

/** One product, channel, version and platform, which derive its id (release-place.ts). */
export interface ReleaseDoc extends Doc, ReleaseFields {
  withdrawn_at: string | null;
  withdrawn_reason: string | null;
  halted_at: string | null;
  halted_reason: string | null;
  /** Or was resumed: earlier errors do not halt it. */
  rollout_at: string;
  downloads: number;
  created_at: string;
  /** Never decreases, for delta readers. */
  updated_at: string;
  rev: number;
  /** Product; present while the rollout may halt automatically. */
  rolling?: string;
  /** Since when work is pending (docs/consistency.md, releases). */
  open_at?: string;
  /** While the files are being removed. */
  withdrawing?: { reason: string; at: string };
  /** A rollback to an earlier version withdrew it. */
  rolled_back?: { to: string; at: string };
  /** A rollback returns to it, until all later ones are withdrawn. */
  rolling_back?: RollbackIntent;
  outbox: ReleaseOutboxEntry[];
}

export type ReleaseOutboxEntry = PublishedEntry | HaltedEntry | RolledBackEntry;

export interface RollbackIntent {
  reason: string;
  at: string;
  /** Null for all platforms. */
  platform: Platform | null;
}

export interface PublishedEntry {
  id: string;
  at: string;
  event: 'release.published';
  /** The closed items are resolved when the event is sent. */
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

/** Newest of a channel (contract 40, freshness). */
export interface StatementDoc extends Doc {
  product: string;
  channel: string;
  /** Signed bytes, as UTF-8. */
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
