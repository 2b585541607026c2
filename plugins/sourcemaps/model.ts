/** What the plugin keeps, and its collections. */
import type { CollectionSpec } from '../../kernel/contract.js';
import type { BundledFile } from '../../ports/source-maps/reader.js';

/** Every piece of an upload but the last has this size: tools are told so, and what lies where follows from it. */
export const PIECE_BYTES = 262_144;
/** Of one upload: a bundle, or a file. */
export const MOST_PIECES = 1_024;

/** A piece that was sent and belongs to no bundle yet. */
export interface Chunk {
  /** `<space>:<sha1>` */
  id: string;
  /** The token's project; `*` for a token of all projects. */
  space: string;
  data: Uint8Array;
  at: string;
}

/** A piece of a bundle. */
export interface BundlePiece {
  /** `<bundle>:<number from 0>` */
  id: string;
  data: Uint8Array;
  /** `data` is deflated: it became smaller by that. */
  packed?: true;
}

export interface Bundle {
  /** Made of project, checksum, release and dist: what is sent again is known. */
  id: string;
  project: string;
  checksum: string;
  release: string | null;
  dist: string | null;
  /** Bytes. */
  size: number;
  files: number;
  /** `assembling`: its parts are being written. `leaving`: they are being removed. */
  state: 'assembling' | 'ready' | 'leaving';
  created_by: string;
  created_at: string;
  /** Of the last frame that was rewritten by it, to the day; else of the upload. */
  used_at: string;
}

/** A script or a map within a bundle. */
export interface Artifact {
  /** `<bundle>:<number from 0>` */
  id: string;
  bundle: string;
  project: string;
  /** By which releases find it: release, dist and address; null: it has no release. */
  key: string | null;
  debug_id: string | null;
  file: BundledFile;
  at: string;
  /** Why it cannot be used, once that is known. */
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

/** Fields of a key are told apart by U+001F, which no address has. */
export const keyOf = (release: string, dist: string | null, url: string): string =>
  [release, dist ?? '', url].join('\u001F');
