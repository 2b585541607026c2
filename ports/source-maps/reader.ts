/**
 * Reads uploaded source maps and bundles (contract 21, Beyond the specification: what JavaScript
 * and releases need). Bytes are untrusted: work off the event loop in bounded memory and time, and
 * let faults affect only their owner.
 */

/** Location of a file within an upload. */
export interface PackedFile {
  /** Byte offset. */
  offset: number;
  /** Bytes to read, including the archive's file header. */
  length: number;
  /** Packed and unpacked bytes, as the archive states. */
  packed: number;
  size: number;
  /** `plain`: the upload is the file. */
  form: 'plain' | 'stored' | 'deflated';
}

export interface BundledFile extends PackedFile {
  kind: 'script' | 'map';
  /** As stated in the bundle: `~/assets/index.js`. */
  url: string;
  /** Lower case, with dashes. */
  debugId: string | null;
  /** Of a script: URL of its map, relative to its own. */
  mapUrl: string | null;
}

/** Random access to an upload. */
export interface UploadedBytes {
  size: number;
  /** Reads the bytes from `start` to `end` (exclusive). */
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
  /** Null for functions without a stable name; minified names change per build. */
  function: string | null;
  /** The line with up to five on each side; null: the map has no source. */
  source: { before: string[]; line: string; after: string[] } | null;
}

export interface LocateRequest {
  /** Owner of the map; owners share time fairly. */
  owner: string;
  /** Cache key of the map. */
  id: string;
  positions: readonly ScriptPosition[];
  /** Loads an uncached map; the script provides function names. */
  load(): Promise<{ map: PackedUpload; script: PackedUpload | null }>;
}

export interface SourceMaps {
  /**
   * Lists the scripts and maps of an artifact bundle.
   * @throws SourceMapRejected, and errors of `bundle.read`
   */
  unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]>;
  /**
   * Resolves positions, one result each in order; null when unmapped.
   * @throws SourceMapRejected, and errors of `load`
   */
  locate(question: LocateRequest): Promise<(SourcePosition | null)[]>;
  /** Stops the background workers. */
  close(): Promise<void>;
}

/** An upload cannot be used, permanently or temporarily. */
export class SourceMapRejected extends Error {
  override name = 'MapRefused';
  constructor(
    /** Predicate about the upload: `has more than 10000 files`. */
    readonly why: string,
    /** The fault is in the bytes. False: out of time or resources; retry later. */
    readonly lasting = true,
  ) {
    super(why);
  }
}
