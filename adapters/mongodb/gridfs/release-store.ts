/**
 * Packages are in GridFS (`releases.url=mongodb:`; contract 95, several processes); each folder's
 * served files are in one document, so that package, signature and manifest change atomically.
 * Nothing is cached, because other processes may change it.
 */
import { FileReplaced, type PackageReader, type ReleaseStore, type StoredFile } from '../../../ports/release-store.js';
import { GridFsBlobs, MissingChunkError } from './blobs.js';
import { GridFsDatabase, type ContentDoc, type GridFsOptions, type FolderFile, type FileSlot } from './database.js';
import { GridFsContents } from './contents.js';
import { ReleaseFolders, isValidName } from './folders.js';
import { FileMarks } from './marks.js';
import { GridFsPackages, type GridFsPackagesDependencies } from './packages.js';
import { GridFsReconciler } from './reconciler.js';
import { GridFsAccessFiles, GridFsChannelTexts, FolderTexts } from './texts.js';
import { unpackInThread } from './unpack-thread.js';

const SLOT_BY_FILE_NAME: Readonly<Record<string, FileSlot>> = {
  'package.tar.gz': 'package',
  'manifest.json': 'manifest',
  'manifest.sig': 'signature',
  'latest.json': 'latest',
};
const MAX_PATH_DEPTH = 5;
const CONTENT_PATH_DEPTH = 6;
const FILES_FOLDER = 'files';
const TEXT_CHUNK_BYTES = 256 * 1024;

export class GridFsReleaseStore implements ReleaseStore {
  readonly folder = null;
  readonly packages: GridFsPackages;
  readonly channels: GridFsChannelTexts;
  readonly access: GridFsAccessFiles;
  readonly #database: GridFsDatabase;
  readonly #folders: ReleaseFolders;
  readonly #blobs: GridFsBlobs;
  readonly #marks: FileMarks;
  readonly #contents: GridFsContents;

  /**
   * Connects on first use.
   * @param keepMs how long a replaced package remains readable
   * @throws MongoParseError on a malformed URL
   */
  constructor(options: GridFsOptions & { unpackFiles?: boolean }, reader: PackageReader, keepMs?: number) {
    const { failed = () => undefined, unpackFiles = false } = options;
    const database = new GridFsDatabase(options);
    const blobs = new GridFsBlobs(database);
    const folders = new ReleaseFolders(database);
    const marks = new FileMarks(database, blobs);
    const texts = new FolderTexts(blobs, marks);
    const contents = new GridFsContents(database);
    const sweep = new GridFsReconciler({ database, folders, blobs, marks, contents }, keepMs);
    const unpack: GridFsPackagesDependencies['unpack'] = unpackFiles
      ? (place, signal) => unpackInThread({ url: options.url, place }, signal)
      : null;
    const parts = { database, folders, blobs, marks, texts, sweep, contents, unpack, reader, failed };
    this.packages = new GridFsPackages(parts);
    this.channels = new GridFsChannelTexts({ folders, texts, marks });
    this.access = new GridFsAccessFiles({ folders, texts, marks });
    this.#database = database;
    this.#folders = folders;
    this.#blobs = blobs;
    this.#marks = marks;
    this.#contents = contents;
  }

  async open(segments: readonly string[]): Promise<StoredFile | null> {
    if (segments.length === CONTENT_PATH_DEPTH && segments.at(-2) === FILES_FOLDER) return this.#openContent(segments);
    const slot = Object.hasOwn(SLOT_BY_FILE_NAME, segments.at(-1) ?? '')
      ? SLOT_BY_FILE_NAME[segments.at(-1) ?? '']
      : undefined;
    if (slot === undefined || segments.length < 2 || segments.length > MAX_PATH_DEPTH || !segments.every(isValidName))
      return null;
    const path = segments.slice(0, -1).join('/');
    const folderFile = await this.#folders.getMetadata(path, slot);
    if (folderFile === null) return null;
    return {
      size: folderFile.size,
      modifiedAt: folderFile.at,
      tag: folderFile.tag,
      read: (start, end, allocate) => this.#read({ path, slot, kept: folderFile }, { start, end }, allocate),
    };
  }

  async #openContent(segments: readonly string[]): Promise<StoredFile | null> {
    if (!segments.every(isValidName)) return null;
    const path = segments.slice(0, -2).join('/');
    const content = await this.#contents.find(path, segments.at(-1) ?? '');
    if (content === null) return null;
    const { size, at, file } = content;
    return {
      size,
      modifiedAt: at,
      tag: file.toHexString(),
      read: (start, end, allocate) => this.#readContent(content, { start, end }, allocate),
    };
  }

  async *#readContent(
    content: ContentDoc,
    part: { start: number; end: number },
    allocate: (() => Uint8Array) | undefined,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* this.#blobs.read(content, part, allocate);
    } catch (error) {
      if (!(error instanceof MissingChunkError)) throw error;
      throw new FileReplaced('the release with the file was replaced or withdrawn', { cause: error });
    }
  }

  async requireFolder(): Promise<void> {}

  async probe(keepFree: number): Promise<void> {
    await this.#marks.removeMark(await this.#marks.createMark());
    await this.packages.checkFreeSpace(keepFree);
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  async *#read(
    { path, slot, kept: folderFile }: { path: string; slot: FileSlot; kept: FolderFile },
    part: { start: number; end: number },
    allocate: (() => Uint8Array) | undefined,
  ): AsyncGenerator<Uint8Array> {
    const replaced = (): never => {
      throw new FileReplaced('the file was replaced or withdrawn');
    };
    if (folderFile.file !== undefined) {
      if (!(await this.#folders.hasFile(path, slot, folderFile.tag))) replaced();
      try {
        yield* this.#blobs.read(folderFile, part, allocate);
      } catch (error) {
        // A missing chunk of a withdrawn file is not damage.
        if (error instanceof MissingChunkError && !(await this.#folders.hasFile(path, slot, folderFile.tag)))
          replaced();
        throw error;
      }
      return;
    }
    const { text } = (await this.#folders.get(path, slot, folderFile.tag)) ?? replaced();
    const bytes = Buffer.from(text ?? '');
    for (let at = part.start; at < part.end; at += TEXT_CHUNK_BYTES)
      yield bytes.subarray(at, Math.min(part.end, at + TEXT_CHUNK_BYTES));
  }
}
