/**
 * Stores packages below `/releases/` (contract 40, files). Uploads are staged on that file system,
 * validated, and published by renames, so partial files are never served.
 */

/**
 * Location of a package: `<product>/<channel>/<version>/<platform>/`. Each part is a validated
 * name, never a path.
 */
export interface ReleaseLocation {
  product: string;
  channel: string;
  version: string;
  platform: string;
}

/** A completely received, unpublished package. */
export interface StagedPackage {
  /** Id, also valid after a crash. */
  id: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
}

/** Validated contents of a package. */
export interface PackageContents {
  /** In code point order. */
  files: readonly PackagedFile[];
  /** Total bytes of the files. */
  unpacked: number;
  /** `setup.json` at the root, or null. */
  setup: string | null;
}

/** Packages with a larger `setup.json` are rejected. */
export const MAX_SETUP_BYTES = 1_048_576;

export interface PackagedFile {
  path: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
  mode: '0755' | '0644';
}

/** An archive violates contract 40, publishing. */
export class PackageRejected extends Error {
  override name = 'PackageRejected';
  constructor(
    /** Escaped, truncated; '' when no entry is at fault. */
    readonly entry: string,
    /** Continues the sentence after the entry's name: `is an absolute path`. */
    readonly why: string,
  ) {
    super(entry === '' ? why : `${entry} ${why}`);
  }
}

/** More bytes were received than the limit allows. */
export class PackageTooLarge extends Error {
  override name = 'PackageTooLarge';
}

/** The disk is full or would fall below the reserved free space. */
export class DiskFull extends Error {
  override name = 'DiskFull';
}

/** The disk is not writable: read-only, or owned by another user. */
export class DiskUnwritable extends Error {
  override name = 'DiskUnwritable';
}

/** The product's folder was not created by this service; nothing is written to it. */
export class FolderTaken extends Error {
  override name = 'FolderTaken';
}

/** Text files next to a package. */
export interface ManifestTexts {
  /** The signed bytes, as UTF-8. */
  manifest: string;
  /** Base64; null: removes an existing signature. */
  signature: string | null;
}

/** A stored file; holds no resources until it is read. */
export interface StoredFile {
  /** Bytes. */
  size: number;
  modifiedAt: Date;
  /** Changes with the bytes, stable across restarts; unquoted. */
  tag: string;
  /**
   * Reads from `start` to `end` (exclusive).
   * @param room allocates a buffer per chunk
   * @throws FileReplaced before the first chunk
   */
  read(start: number, end: number, room?: () => Uint8Array): AsyncIterable<Uint8Array>;
}

/** The file was replaced or withdrawn; open it again. */
export class FileReplaced extends Error {
  override name = 'FileReplaced';
}

/** Result of a sweep of the store. */
export interface SweepResult {
  removed: number;
  damaged: readonly ReleaseLocation[];
}

/**
 * Stores packages. All writes throw DiskFull and DiskUnwritable, those into a product's folder
 * FolderTaken.
 */
export interface PackageStore {
  /**
   * Removes the package on failure.
   * @throws PackageTooLarge, DiskFull, DiskUnwritable, and errors of `bytes`
   */
  stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage>;
  /** Neither published nor discarded. */
  listStaged(): Promise<{ id: string; modifiedAt: Date }[]>;
  discard(id: string): Promise<void>;
  /**
   * Runs off the event loop.
   * @param entry path of the started file, always executable
   * @throws PackageRejected
   */
  inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents>;

  /** Publishes durably: package, signature, manifest, in this order, each by rename. */
  put(id: string, place: ReleaseLocation, texts: ManifestTexts): Promise<void>;
  link(from: ReleaseLocation, to: ReleaseLocation, texts: ManifestTexts): Promise<boolean>;
  /** For a new signature. */
  writeTexts(place: ReleaseLocation, texts: ManifestTexts): Promise<void>;
  /**
   * Stores the files of a release by hash, shared by the releases that list them, unless they are
   * there; removes those that no release lists after it was replaced or withdrawn. Runs after a
   * change of the release, and repeats what a crash interrupted. Until then, and in stores without
   * such files, `open` does not find them.
   * @throws DiskFull when they do not fit, errors of the package, and the signal's reason
   */
  updateFiles(place: ReleaseLocation, signal?: AbortSignal): Promise<void>;
  /** Removes a package permanently. @returns false when it was missing */
  withdraw(place: ReleaseLocation): Promise<boolean>;
  /** Hashes off the event loop. */
  readPackageInfo(
    place: ReleaseLocation,
  ): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null>;
  /** Iterates the locations with a package or a part of one, for the reconciler. */
  iterateLocations(): AsyncIterable<ReleaseLocation>;
  /**
   * Removes replaced or withdrawn packages that downloads could still read, files that no release
   * lists, and orphans of a crash.
   */
  sweep(signal?: AbortSignal): Promise<SweepResult>;
}

/** Reads packages off the event loop, for stores other than a file system. */
export interface PackageReader {
  /** @throws errors of `bytes` */
  hash(bytes: AsyncIterable<Uint8Array>): Promise<{ sha256: string; size: number }>;
  /**
   * @param rules `entry`: path of the started file, always executable
   * @throws PackageRejected, and errors of `bytes`
   */
  inspect(
    bytes: AsyncIterable<Uint8Array>,
    rules: { platform: string; entry: string | null },
  ): Promise<PackageContents>;
}

export const EMPTY_SWEEP_RESULT: SweepResult = { removed: 0, damaged: [] };

/** Writes `latest.json` of channels and products. */
export interface ChannelTexts {
  /**
   * Atomic, by temporary file and rename.
   * @param channel null: the product's own file
   */
  write(product: string, channel: string | null, text: string): Promise<void>;
}

export type AccessFile = '.htaccess' | '.htpasswd';

export interface AccessFileStore {
  /** Lists products with a directory of this service. */
  listProducts(): Promise<string[]>;
  /** Returns a tag that changes with the file, without reading it; null when missing. */
  getTag(product: string, file: AccessFile): Promise<string | null>;
  read(product: string, file: AccessFile): Promise<string | null>;
  /**
   * Writes atomically unless unchanged.
   * @returns whether it wrote
   */
  write(product: string, file: AccessFile, text: string): Promise<boolean>;
}

export interface ReleaseStore {
  readonly folder: string | null;
  readonly packages: PackageStore;
  readonly channels: ChannelTexts;
  readonly access: AccessFileStore;
  /**
   * Opens a file by decoded segments below `/releases/`. Null when missing or not public
   * (`.incoming`, access files, dotfiles, links).
   */
  open(segments: readonly string[]): Promise<StoredFile | null>;
  /** @throws FolderTaken, one sentence with the fix */
  requireFolder(product: string): Promise<void>;
  /**
   * Writes and deletes a probe file.
   * @param keepFree bytes
   * @throws DiskFull, DiskUnwritable
   */
  probe(keepFree: number): Promise<void>;
  /** Closes its connections; the store is unusable afterwards. */
  close(): Promise<void>;
}
