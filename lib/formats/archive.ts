/** Validates a `package.tar.gz` in one pass with bounded memory (contract 40, refused packages). */
import { createHash, type Hash } from 'node:crypto';
import { ByteQueue } from './byte-queue.js';
import { compareCodePoints } from './code-points.js';
import { gunzip } from './gzip.js';
import { UnsafePackage } from './unsafe-package.js';
import { PathSet } from './path-set.js';
import { findPathFault } from './path-policy.js';
import {
  checkGlobalPax,
  MAX_EXTENSION_BYTES,
  parseLongName,
  parsePaxRecords,
  type PaxRecords,
} from './tar/extensions.js';
import { BLOCK_BYTES, isZero, parseTarHeader, type TarHeader } from './tar/header.js';

export { UnsafePackage } from './unsafe-package.js';

export type FileMode = '0755' | '0644';

export interface ArchivedFile {
  path: string;
  /** Bytes. */
  size: number;
  /** Hex. */
  sha256: string;
  mode: FileMode;
}

/** A file before its content is read. */
export type FileEntry = Omit<ArchivedFile, 'sha256'>;

export interface ArchiveContents {
  files: ArchivedFile[];
  /** Total bytes of the files. */
  unpackedBytes: number;
}

export interface PackageLimits {
  entries: number;
  /** Including headers and padding. */
  unpackedBytes: number;
  /** Unpacked bytes per packed byte. */
  ratio: number;
}

/** Contract 40, refused packages. */
export const PACKAGE_LIMITS: PackageLimits = { entries: 200_000, unpackedBytes: 8 * 1024 ** 3, ratio: 200 };

/** A package may list 200,000 empty files. */
const EMPTY_SHA256 = createHash('sha256').digest('hex');
const EMPTY_CONTENT: AsyncIterable<Uint8Array> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};

/** Smaller packages may have any ratio. */
const MIN_RATIO_CHECK_BYTES = 64 * 1024 ** 2;
/** Limit of all paths together. */
const MAX_PATHS_BYTES = 32 * 1024 ** 2;

export interface ReadPackageOptions {
  platform: string;
  entry?: string | null;
  /** Receives each file in archive order. */
  onFile?: (file: FileEntry, content: AsyncIterable<Uint8Array>) => Promise<void>;
  limits?: Partial<PackageLimits>;
}

/**
 * Reads and validates a package. On failure closes `source`; the caller must undo earlier `onFile`
 * work.
 * @throws UnsafePackage at the first violation, and errors of `source` and `onFile`
 */
export async function readPackage(
  source: AsyncIterable<Uint8Array>,
  options: ReadPackageOptions,
): Promise<ArchiveContents> {
  const reader = new PackageReader(source, options);
  try {
    return await reader.read();
  } finally {
    await reader.close();
  }
}

class PackageReader {
  readonly #tar: ByteQueue;
  readonly #limits: PackageLimits;
  readonly #paths = new PathSet();
  readonly #files: ArchivedFile[] = [];
  #largest = { path: '', size: 0 };
  #packed = 0;
  #unpacked = 0;
  #entries = 0;
  #pathsBytes = 0;

  constructor(
    source: AsyncIterable<Uint8Array>,
    private readonly options: ReadPackageOptions,
  ) {
    this.#limits = { ...PACKAGE_LIMITS, ...options.limits };
    this.#tar = new ByteQueue(this.#unpack(source));
  }

  async read(): Promise<ArchiveContents> {
    for (let header = await this.#readHeader(); header !== null; header = await this.#readHeader())
      await this.#readEntry(header);
    await this.#readEnd();
    const files = this.#files.toSorted((a, b) => compareCodePoints(a.path, b.path));
    if (files.length === 0) throw new UnsafePackage('', 'The package contains no file');
    return { files, unpackedBytes: files.reduce((sum, { size }) => sum + size, 0) };
  }

  async close(): Promise<void> {
    await this.#tar.close();
  }

  async *#unpack(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
    for await (const piece of gunzip(this.#countPackedBytes(source))) {
      this.#unpacked += piece.length;
      const { unpackedBytes, ratio } = this.#limits;
      if (this.#unpacked > unpackedBytes) throw this.#createLimitError(`more than ${unpackedBytes} bytes`);
      // Later bytes may still lower the ratio.
      if (this.#unpacked > this.#packed * ratio + MIN_RATIO_CHECK_BYTES)
        throw this.#createLimitError(`more than ${ratio} times its size`);
      yield piece;
    }
    if (this.#unpacked > Math.max(MIN_RATIO_CHECK_BYTES, this.#packed * this.#limits.ratio))
      throw this.#createLimitError(`more than ${this.#limits.ratio} times its size`);
  }

  #createLimitError(what: string): UnsafePackage {
    const { path } = this.#largest;
    if (path === '') return new UnsafePackage('', `The package unpacks to ${what}`);
    return new UnsafePackage(path, `is the largest file of a package that unpacks to ${what}`);
  }

  async *#countPackedBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      this.#packed += piece.length;
      yield piece;
    }
  }

  /** Null at the first end block. */
  async #readHeader(name: string | null = null): Promise<TarHeader | null> {
    const block = await this.#tar.take(BLOCK_BYTES);
    if (block.length < BLOCK_BYTES) throw new UnsafePackage('', 'The package ends before the end of its archive');
    return isZero(block) ? null : parseTarHeader(block, name);
  }

  async #readEnd(): Promise<void> {
    const block = await this.#tar.take(BLOCK_BYTES);
    if (block.length < BLOCK_BYTES) throw new UnsafePackage('', 'The package ends before the end of its archive');
    if (!isZero(block)) throw createTrailingDataError();
    for await (const piece of this.#tar.read()) if (!isZero(piece)) throw createTrailingDataError();
  }

  async #readEntry(first: TarHeader): Promise<void> {
    if (++this.#entries > this.#limits.entries)
      throw new UnsafePackage(first.path ?? '', `is one more than ${this.#limits.entries} entries`);
    let header = first;
    let pax: PaxRecords | null = null;
    let longName: string | null = null;
    while (header.kind !== 'file' && header.kind !== 'directory') {
      const bytes = await this.#readExtension(header);
      if (header.kind === 'global pax') return checkGlobalPax(bytes);
      if (pax !== null || longName !== null)
        throw new UnsafePackage(header.path ?? '', 'is described by more than one header');
      if (header.kind === 'pax') pax = parsePaxRecords(bytes, header.path ?? '');
      else longName = parseLongName(bytes);
      const next = await this.#readHeader(pax?.path ?? longName);
      if (next === null) throw new UnsafePackage(header.path ?? '', 'describes an entry that is missing');
      header = next;
      if (header.kind === 'global pax') throw new UnsafePackage(first.path ?? '', 'is described by a global header');
    }
    const written = pax?.path ?? longName ?? header.path;
    if (written === null) throw new UnsafePackage('', 'A path in the package is not UTF-8');
    if (typeof pax?.refused === 'string') throw new UnsafePackage(written, pax.refused);
    if (typeof pax?.size === 'number' && pax.size !== header.size) throw new UnsafePackage(written, 'has two sizes');
    const path = this.#addPath(written, header.kind);
    if (header.kind === 'file') await this.#readFile(path, header);
  }

  async #readExtension({ path, size }: TarHeader): Promise<Buffer> {
    if (size > MAX_EXTENSION_BYTES)
      throw new UnsafePackage(path ?? '', `is described by more than ${MAX_EXTENSION_BYTES} bytes`);
    const bytes = await this.#tar.take(size);
    if (bytes.length < size) throw new UnsafePackage(path ?? '', 'is truncated');
    await this.#skipPadding(path ?? '', size);
    return bytes;
  }

  /** Without tar's leading `./` and a directory's trailing `/`. */
  #addPath(written: string, kind: 'file' | 'directory'): string {
    const inside = written.replace(/^\.\//, '');
    const path = kind === 'directory' ? inside.replace(/(?<=.)\/$/, '') : inside;
    if (kind === 'directory' && (written === './' || written === '.')) return '';
    this.#pathsBytes += Buffer.byteLength(path);
    const why =
      findPathFault(path, this.options.platform) ??
      (this.#pathsBytes > MAX_PATHS_BYTES ? 'makes all paths together too long' : this.#paths.add(path, kind));
    if (why !== null) throw new UnsafePackage(written, why);
    return path;
  }

  async #readFile(path: string, { size, executable }: TarHeader): Promise<void> {
    if (size > this.#limits.unpackedBytes)
      throw new UnsafePackage(path, `is larger than ${this.#limits.unpackedBytes} bytes`);
    if (size > this.#largest.size) this.#largest = { path, size };
    const { entry = null, onFile } = this.options;
    const starts = size > 0 && isProgram(await this.#tar.peek(Math.min(size, 4)));
    const mode: FileMode = executable || starts || path === entry ? '0755' : '0644';
    if (size === 0) {
      await onFile?.({ path, size, mode }, EMPTY_CONTENT);
      this.#files.push({ path, size, sha256: EMPTY_SHA256, mode });
      return;
    }
    const hash = createHash('sha256');
    const content = new FileContent(this.#tar, size, hash);
    await onFile?.({ path, size, mode }, content);
    if (content.left > 0) for await (const _ of content);
    if (content.left > 0) throw new UnsafePackage(path, 'is truncated');
    await this.#skipPadding(path, size);
    this.#files.push({ path, size, sha256: hash.digest('hex'), mode });
  }

  async #skipPadding(path: string, size: number): Promise<void> {
    const count = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES;
    if (count === 0) return;
    const bytes = await this.#tar.take(count);
    if (bytes.length < count) throw new UnsafePackage(path, 'is truncated');
    if (!isZero(bytes)) throw new UnsafePackage(path, 'is followed by unexpected bytes');
  }
}

class FileContent implements AsyncIterable<Uint8Array> {
  constructor(
    private readonly tar: ByteQueue,
    public left: number,
    private readonly hash: Hash,
  ) {}

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for await (const piece of this.tar.read(this.left)) {
      this.left -= piece.length;
      this.hash.update(piece);
      yield piece;
    }
  }
}

/** An ELF program or a script with an interpreter line. */
const isProgram = (start: Buffer): boolean =>
  start.toString('latin1', 0, 4) === '\x7fELF' || start.toString('latin1', 0, 2) === '#!';

const createTrailingDataError = (): UnsafePackage =>
  new UnsafePackage('', 'The package has data after the end of its archive');
