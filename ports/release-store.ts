/**
 * Where packages lie (contract 40, files): the tree below `/releases/`, which a web server may serve from the same
 * disk. What is received is staged on the same file system, read strictly, and put in place by renames, so that a
 * half-received file is never offered. The adapters on the file system, in MongoDB's GridFS and in memory pass the same
 * suite.
 */

/** One package's place: `<product>/<channel>/<version>/<platform>/`. Each is a checked name, never a path. */
export interface ReleasePlace {
  product: string;
  channel: string;
  version: string;
  platform: string;
}

/** A package received whole, not yet offered. */
export interface StagedPackage {
  /** Names it until it is put in place or discarded; also after a crash. */
  id: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
}

/** What a package holds, read strictly. */
export interface PackageContents {
  /** In the order of their paths by code point. */
  files: readonly PackagedFile[];
  /** Bytes of all files. */
  unpacked: number;
  /** The texts of small files at the root that the service reads: `setup.json`; null: it holds none. */
  setup: string | null;
}

/** Of `setup.json`: a larger one is refused with its package. */
export const MAX_SETUP_BYTES = 1_048_576;

export interface PackagedFile {
  path: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
  mode: '0755' | '0644';
}

/** An archive that breaks a rule of contract 40, publishing. */
export class PackageRejected extends Error {
  override name = 'PackageRejected';
  constructor(
    /** The entry's name as the archive has it, escaped and cut; '' where no entry is at fault. */
    readonly entry: string,
    /** Follows the entry's name in a sentence: `is an absolute path`. */
    readonly why: string,
  ) {
    super(entry === '' ? why : `${entry} ${why}`);
  }
}

/** More bytes came than the limit allows. */
export class PackageTooLarge extends Error {
  override name = 'PackageTooLarge';
}

/** There is no room: the disk is full, or would fall below what is kept free. */
export class DiskFull extends Error {
  override name = 'DiskFull';
}

/** The disk can be read and takes nothing: it is read-only, or its files belong to another user. */
export class DiskUnwritable extends Error {
  override name = 'DiskUnwritable';
}

/** A folder of the product's name is there, and somebody else made it: nothing is written into it. */
export class FolderTaken extends Error {
  override name = 'FolderTaken';
}

/** The texts that lie beside a package. */
export interface ManifestTexts {
  /** The exact signed bytes, as UTF-8. */
  manifest: string;
  /** Base64; null: unsigned, and a signature that is there goes. */
  signature: string | null;
}

/** A file of the store as it is now. It holds nothing open until it is read. */
export interface StoredFile {
  /** Bytes. */
  size: number;
  modifiedAt: Date;
  /** Differs whenever the bytes do, and stays over restarts; without quotes. */
  tag: string;
  /**
   * The bytes from `start` up to, and without, `end`, in pieces of 256 KiB or more. Once the first piece is there, a
   * replacement or withdrawal changes nothing any more.
   * @param room makes a buffer for the next piece, one for each; absent: a new one
   * @throws FileReplaced before the first piece
   */
  read(start: number, end: number, room?: () => Uint8Array): AsyncIterable<Uint8Array>;
}

/** Another file took its place, or it was withdrawn, before it was read: ask for it again. */
export class FileReplaced extends Error {
  override name = 'FileReplaced';
}

/** What a look through the whole store has come to. */
export interface Swept {
  /** Files that nothing named any more, and that are gone. */
  removed: number;
  /** Packages of which a part is missing. */
  damaged: readonly ReleasePlace[];
}

/**
 * Packages: received, read, put in place, and taken out again. Whatever writes throws DiskFull and DiskUnwritable, and
 * into the folder of a product FolderTaken.
 */
export interface PackageStore {
  /**
   * Receives a package; nothing of it stays when it throws.
   * @throws PackageTooLarge, DiskFull, DiskUnwritable, and what `bytes` throws
   */
  stage(bytes: AsyncIterable<Uint8Array>, limits: { bytes: number; keepFree: number }): Promise<StagedPackage>;
  /** What was staged and neither put in place nor discarded, with its age. */
  staged(): Promise<{ id: string; modifiedAt: Date }[]>;
  discard(id: string): Promise<void>;
  /**
   * Reads a staged package strictly, off the event loop.
   * @param entry path of the file that is started, which is executable whatever its mode
   * @throws PackageRejected
   */
  inspect(id: string, rules: { platform: string; entry: string | null }): Promise<PackageContents>;

  /** Puts a staged package in place, durably: package, signature, manifest, in this order, each by rename. */
  put(id: string, place: ReleasePlace, texts: ManifestTexts): Promise<void>;
  /** The package of one place becomes that of another as well (contract 40, promote). False: there is none. */
  link(from: ReleasePlace, to: ReleasePlace, texts: ManifestTexts): Promise<boolean>;
  /** Replaces the texts beside a package: a new signature. */
  describe(place: ReleasePlace, texts: ManifestTexts): Promise<void>;
  /** Takes a package out of what is served, and keeps nothing of it. False: it was not there. */
  withdraw(place: ReleasePlace): Promise<boolean>;
  /** Size and SHA-256 of the package in a place, hashed off the event loop, and its manifest; null: none is there. */
  held(place: ReleasePlace): Promise<{ size: number; sha256: string; texts: ManifestTexts | null } | null>;
  /** Every place that holds a package or part of one: for the reconciler. */
  places(): AsyncIterable<ReleasePlace>;
  /**
   * Removes for good what was replaced or withdrawn and could still be read by who had begun, and what a crash has left
   * without a name; a file system does both by itself. For the reconciler: it looks at every file.
   */
  sweep(signal?: AbortSignal): Promise<Swept>;
}

/** Reads packages off the event loop, wherever their bytes lie: for a store that is no file system. */
export interface PackageReader {
  /** @throws what the bytes throw */
  hash(bytes: AsyncIterable<Uint8Array>): Promise<{ sha256: string; size: number }>;
  /**
   * Reads a package strictly (contract 40, publishing).
   * @param rules `entry`: path of the file that is started, which is executable whatever its mode
   * @throws PackageRejected, and what the bytes throw
   */
  inspect(
    bytes: AsyncIterable<Uint8Array>,
    rules: { platform: string; entry: string | null },
  ): Promise<PackageContents>;
}

/** A store that looks after its files by itself. */
export const NOTHING_SWEPT: Swept = { removed: 0, damaged: [] };

/** What a channel, or a whole product, offers now: `latest.json`. */
export interface ChannelTexts {
  /** By a temporary file and rename. @param channel null: the product's own */
  write(product: string, channel: string | null, text: string): Promise<void>;
}

/** The access files of a product (contract 40, access files). */
export type AccessFile = '.htaccess' | '.htpasswd';

export interface AccessFileStore {
  /** The products that have a directory; a folder of others in a shared one is none. */
  products(): Promise<string[]>;
  /** Differs whenever the file does; null: missing. Cheaper than to read it. */
  tag(product: string, file: AccessFile): Promise<string | null>;
  /** Null: missing. */
  read(product: string, file: AccessFile): Promise<string | null>;
  /** By a temporary file and rename; makes the product's directory. Unchanged text is not written. True: written. */
  write(product: string, file: AccessFile, text: string): Promise<boolean>;
}

export interface ReleaseStore {
  /** Where a web server on this machine finds it; null: nowhere. */
  readonly folder: string | null;
  readonly packages: PackageStore;
  readonly channels: ChannelTexts;
  readonly access: AccessFileStore;
  /**
   * A file by its path below `/releases/`, segments already decoded: packages, manifests, signatures, `latest.json`.
   * Null: there is none, or it is not one that is served (`.incoming`, access files, anything that begins with a dot,
   * links).
   */
  open(segments: readonly string[]): Promise<StoredFile | null>;
  /** Before a publish: whether the product may have its folder. @throws FolderTaken, one sentence with the mend */
  admit(product: string): Promise<void>;
  /**
   * Writes something small and takes it away again, so that a store which takes nothing is known before a publish.
   * @param keepFree bytes
   * @throws DiskFull, DiskUnwritable
   */
  probe(keepFree: number): Promise<void>;
  /** Gives up its connections; nothing is asked of it afterwards. */
  close(): Promise<void>;
}
