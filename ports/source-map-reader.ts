/**
 * Reads uploaded source maps and bundles (contract 21, Beyond the specification: what JavaScript
 * and releases need). Bytes are untrusted: work in bounded memory and time, and let faults affect
 * only their owner.
 */

/** Location of a file in an upload. */
export interface PackedFile {
  /** Byte offset. */
  offset: number;
  /** Including the archive's file header. */
  length: number;
  /** As the archive states. */
  packed: number;
  size: number;
  /** `plain`: the upload is the file. */
  form: 'plain' | 'stored' | 'deflated';
}

export interface BundledFile extends PackedFile {
  kind: 'script' | 'map';
  url: string;
  /** Lower case, with dashes. */
  debugId: string | null;
  /** Of a script: URL of its map, relative to its own. */
  mapUrl: string | null;
}

/** Random access to an upload. */
export interface UploadedBytes {
  size: number;
  read(start: number, end: number): Promise<Uint8Array>;
}

export interface PackedUpload {
  file: PackedFile;
  bytes: UploadedBytes;
}

export interface PackedBytes {
  file: PackedFile;
  bytes: Uint8Array;
}

/** Position in a script; line and column start at 1, as in engines. */
export interface ScriptPosition {
  line: number;
  column: number;
}

/** Position in the original source. */
export interface SourcePosition {
  /** `src/cart.ts`: without scheme, host and leading dots. */
  file: string;
  line: number;
  column: number;
  /** Minified names are null: they change per build. */
  function: string | null;
  /** Up to five lines on each side; null: the map has no source. */
  source: { before: string[]; line: string; after: string[] } | null;
}

export interface LocateRequest {
  owner: string;
  id: string;
  positions: readonly ScriptPosition[];
  load(): Promise<{ map: PackedUpload; script: PackedUpload | null }>;
}

export interface SourceMaps {
  /** @throws SourceMapRejected, and errors of `bundle.read` */
  unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]>;
  /**
   * Returns one result per position, in order.
   * @throws SourceMapRejected, and errors of `load`
   */
  locate(question: LocateRequest): Promise<(SourcePosition | null)[]>;
  close(): Promise<void>;
}

/** An upload cannot be used. */
export class SourceMapRejected extends Error {
  override name = 'MapRefused';
  constructor(
    /** Predicate about the upload: `has more than 10000 files`. */
    readonly why: string,
    /** The fault is in the bytes. */
    readonly lasting = true,
  ) {
    super(why);
  }
}
