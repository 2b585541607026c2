import type { CollectionSpec } from '../../kernel/contract/index.js';
import type { BundledFile } from '../../ports/source-map-reader.js';

/**
 * Size of all chunks of an upload but the last; tools must use it, because offsets derive from it.
 */
export const CHUNK_BYTES = 262_144;
export const MAX_CHUNKS_PER_UPLOAD = 1_024;

export interface Chunk {
  id: string;
  /** Project of the token; `*` for a token of all projects. */
  space: string;
  data: Uint8Array;
  at: string;
}

export interface BundleChunk {
  id: string;
  data: Uint8Array;
  packed?: true;
}

export interface Bundle {
  /** Derived from project, checksum, release and dist, so that repeated uploads are recognized. */
  id: string;
  project: string;
  checksum: string;
  release: string | null;
  dist: string | null;
  size: number;
  files: number;
  /** `assembling`: parts are being written. `leaving`: parts are being deleted. */
  state: 'assembling' | 'ready' | 'leaving';
  created_by: string;
  created_at: string;
  /** Day of the last rewritten frame, or time of the upload. */
  used_at: string;
}

export interface Artifact {
  id: string;
  bundle: string;
  project: string;
  /** Lookup key: release, dist and address; null without a release. */
  key: string | null;
  debug_id: string | null;
  file: BundledFile;
  at: string;
  fault: string | null;
}

export const COLLECTIONS: readonly CollectionSpec[] = [
  { name: 'chunks', bytes: 'data', indexes: [{ fields: ['space', 'at'] }, { fields: ['at'] }] },
  { name: 'pieces', bytes: 'data', indexes: [] },
  {
    name: 'bundles',
    indexes: [
      { fields: ['project', 'state', 'created_at'] },
      { fields: ['state', 'created_at'] },
      { fields: ['state', 'used_at'] },
    ],
  },
  { name: 'artifacts', indexes: [{ fields: ['project', 'debug_id'] }, { fields: ['project', 'key'] }] },
];

/** No address contains U+001F. */
export const toArtifactKey = (release: string, dist: string | null, url: string): string =>
  [release, dist ?? '', url].join('\u001F');
