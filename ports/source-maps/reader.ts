/**
 * Reads the source maps that builds upload, and the bundles in which they come (contract 21, Beyond the specification:
 * what JavaScript and releases need). Whoever uploads chooses every byte, so an implementation works off the event
 * loop, in bounded memory and time, and what is wrong with one owner's files costs that owner alone.
 */

/** A file's place within what was uploaded. */
export interface PackedFile {
  /** Where its bytes begin. */
  offset: number;
  /** Bytes to read from there: the file, with the header that an archive puts before it. */
  length: number;
  /** Size of the file as it is packed, and unpacked, in bytes, as the archive says. */
  packed: number;
  size: number;
  /** `plain`: the upload is the file. */
  form: 'plain' | 'stored' | 'deflated';
}

/** A script or a source map of a bundle. */
export interface BundledFile extends PackedFile {
  kind: 'script' | 'map';
  /** As the bundle states it: `~/assets/index.js`. */
  url: string;
  /** Lower case, with dashes. */
  debugId: string | null;
  /** Of a script: where its map lies, relative to its own address. */
  mapUrl: string | null;
}

/** What was uploaded, readable in parts. */
export interface UploadedBytes {
  size: number;
  /** The bytes from `start` up to, and without, `end`. */
  read(start: number, end: number): Promise<Uint8Array>;
}

/** A packed file within an upload. */
export interface PackedUpload {
  file: PackedFile;
  bytes: UploadedBytes;
}

/** Bytes that hold one packed file. */
export interface PackedBytes {
  file: PackedFile;
  bytes: Uint8Array;
}

/** A place in a script: both count from 1, as engines do. */
export interface ScriptPosition {
  line: number;
  column: number;
}

/** The same place in the source that was written. */
export interface SourcePosition {
  /** `src/cart.ts`: without scheme, host and leading dots. */
  file: string;
  line: number;
  column: number;
  /** Null where the function has no name, or none that is known: a minified one would be another in each build. */
  function: string | null;
  /** The line itself, and up to five on each side; null where the map has no source. */
  source: { before: string[]; line: string; after: string[] } | null;
}

export interface MapQuestion {
  /** Whose map it is: owners take turns, and each has a share of the time. */
  owner: string;
  /** Names the map; what has been read is remembered by it for a while. */
  id: string;
  positions: readonly ScriptPosition[];
  /** Asked where the map is not at hand. The script gives the names of functions. */
  load(): Promise<{ map: PackedUpload; script: PackedUpload | null }>;
}

export interface SourceMaps {
  /**
   * The scripts and maps of an artifact bundle.
   * @throws MapRefused, and what `bundle.read` throws
   */
  unpack(owner: string, bundle: UploadedBytes): Promise<BundledFile[]>;
  /**
   * One answer for each position, in their order; null where the map knows nothing of it.
   * @throws MapRefused, and what `load` throws
   */
  locate(question: MapQuestion): Promise<(SourcePosition | null)[]>;
  /** Ends what works off the event loop. */
  close(): Promise<void>;
}

/** What was uploaded cannot be used, or not now. */
export class MapRefused extends Error {
  override name = 'MapRefused';
  constructor(
    /** A clause about the upload: `has more than 10000 files`. */
    readonly why: string,
    /**
     * Only what is in the bytes themselves lasts. False: the owner's share of time is used up, or the machine had none;
     * the same question may be answered later.
     */
    readonly lasting = true,
  ) {
    super(why);
  }
}
