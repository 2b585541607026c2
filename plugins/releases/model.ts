/** The documents that the plugin stores, and the words that it uses (contract 40). */
import type { Runtime } from '../../lib/formats/manifest.js';
import type { Platform } from '../../lib/formats/platform.js';
import type { LeaseRow } from '../../lib/lease.js';
import type { ReleaseHalted, ReleasePublished } from '../../ports/domain/releases.js';
import type { ProcessOwner } from '../../ports/processes.js';
import type { ReleasePlace } from '../../ports/release-store.js';
import type { Doc } from '../../ports/store.js';

/** The fields of a release that its publish sets. */
export interface ReleaseFields {
  product: string;
  channel: string;
  /** The version as first published; `1.2.0` published after `1.2` is the same release. */
  version: string;
  platform: Platform;
  /** The name by which `resolved_in_build` may refer to the release. */
  build: string | null;
  mandatory: boolean;
  /** 0 to 100. */
  rollout_percent: number;
  min_version: string | null;
  release_notes: string | null;
  published_at: string;
  published_by: string;
  /** The size in bytes. */
  package_size: number;
  package_sha256: string;
  manifest_sha256: string;
  /** Base64; null for an unsigned release. */
  manifest_signature: string | null;
  key_id: string | null;
  /** The number of files in the package. */
  file_count: number;
  entry: string | null;
  runtime: Runtime | null;
  preserve_patterns: string[];
  /** True when the package holds a `setup.json`. */
  has_setup: boolean;
}

/** A release: one product, channel, version and platform. Its id follows from these four (place.ts). */
export interface ReleaseDoc extends Doc, ReleaseFields {
  withdrawn_at: string | null;
  withdrawn_reason: string | null;
  halted_at: string | null;
  halted_reason: string | null;
  /** When the rollout began or was resumed: earlier errors do not halt it. */
  rollout_at: string;
  downloads: number;
  created_at: string;
  /** Never goes back, so that readers of changes see every one. */
  updated_at: string;
  rev: number;
  /** The product; present while the rollout may halt by itself. */
  rolling?: string;
  /** Since when work is left to do; absent when none is (docs/consistency.md, releases). */
  open_at?: string;
  /** Present while the files are about to leave the store. */
  withdrawing?: { reason: string; at: string };
  outbox: ReleaseOutboxEntry[];
}

/** An event, stored with its change until its listeners have it. */
export type ReleaseOutboxEntry = PublishedEntry | HaltedEntry;

export interface PublishedEntry {
  id: string;
  at: string;
  event: 'release.published';
  /** The data without the closed items, which are found when the event is sent. */
  data: Omit<ReleasePublished, 'closed_items' | 'closed_count'>;
}

export interface HaltedEntry {
  id: string;
  at: string;
  event: 'release.halted';
  data: ReleaseHalted;
}

/** One part of a manifest's text. */
export interface ManifestPart extends Doc {
  release_id: string;
  manifest_sha256: string;
  text: string;
}

/** The lease of a release that is being published, and the marker of how far the publish came. */
export interface PublishDoc extends Doc, LeaseRow<ProcessOwner> {
  id: string;
  /** Written before the first rename: after a crash the intent is finished or undone. */
  intent?: PublishIntent | null;
}

export interface PublishIntent {
  /** The staged package; null when an existing package is linked. */
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

export const toStorePath = ({ product, channel, version, platform }: ReleaseFields): ReleasePlace => ({
  product,
  channel,
  version,
  platform,
});
