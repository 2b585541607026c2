/** What the plugin stores, and the words that it uses (contract 40). */
import type { ReleasePublished } from '../../ports/domain/releases.js';
import type { Doc } from '../../ports/store.js';

/** A runtime identifier, or `any`: independent of the platform (contract 01, resources). */
export const PLATFORMS = ['any', 'win-x64', 'linux-x64', 'linux-arm64'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** What a manifest says that a machine needs: `{name, version}`. */
export interface Runtime {
  name: string;
  version: string;
}

/** A release: one product, channel, version and platform. Its id follows from these four. */
export interface ReleaseDoc extends Doc {
  product: string;
  channel: string;
  /** As it was first published; `1.2.0` published later is the same release. */
  version: string;
  platform: Platform;
  build: string | null;
  mandatory: boolean;
  /** 0 to 100. */
  rollout_percent: number;
  min_version: string | null;
  release_notes: string | null;
  published_at: string;
  published_by: string;
  package_size: number;
  package_sha256: string;
  manifest_sha256: string;
  /** Base64; null: unsigned. */
  manifest_signature: string | null;
  key_id: string | null;
  /** Files in the package. */
  file_count: number;
  entry: string | null;
  runtime: Runtime | null;
  preserve_patterns: string[];
  has_setup: boolean;
  withdrawn_at: string | null;
  withdrawn_reason: string | null;
  halted_at: string | null;
  halted_reason: string | null;
  /** When the rollout began or was resumed: errors before that do not halt it. */
  rollout_at: string;
  downloads: number;
  created_at: string;
  /** Never goes back, so that a reader of changes meets every change (index). */
  updated_at: string;
  rev: number;
  /** Product; present while the rollout may halt by itself. */
  rolling?: string;
  /** Since when something is left to do (consistency): present while it is. */
  open_at?: string;
  outbox: OutboxEntry[];
  /** Of the bug items that this publish closed, until the event is out. */
  closed?: { items: string[]; count: number };
}

/** An event that waits for its listeners; it was stored with its change. */
export type OutboxEntry =
  | {
      id: string;
      event: 'release.published';
      at: string;
      data: Omit<ReleasePublished, 'closed_items' | 'closed_count'>;
    }
  | { id: string; event: 'release.halted'; at: string; data: { reason: string } };
