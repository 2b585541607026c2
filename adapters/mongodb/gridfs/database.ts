/** Package data has a separate client, whose pool it may exhaust. */
import { ObjectId, type Collection, type MongoClientOptions } from 'mongodb';
import { DiskFull, DiskUnwritable } from '../../../ports/release-store.js';
import { StoreFull } from '../../../ports/store/index.js';
import type { ConnectionState } from '../connection-logger.js';
import { MongoConnection } from '../connection.js';
import { DUPLICATE_KEY_CODE, toStoreError } from '../errors.js';
import { parseDatabaseName } from '../store.js';

/** Prefix of the GridFS collections; document collections have no dot in their names. */
export const BUCKET_NAME = 'releases';

/** One file of a folder: short texts are inline, everything else is in GridFS. */
export interface FolderFile {
  tag: string;
  size: number;
  at: Date;
  text?: string;
  file?: ObjectId;
  /** Chunk size of `file` in bytes. */
  chunk?: number;
  /** Hex, for packages. */
  sha256?: string;
}

export const FILE_SLOTS = ['package', 'manifest', 'signature', 'latest', 'htaccess', 'htpasswd'] as const;
export type FileSlot = (typeof FILE_SLOTS)[number];

/**
 * Keyed by path: `<product>`, `<product>/<channel>`, or the place of a package. One write replaces
 * all its files.
 */
export interface FolderDoc extends Partial<Record<FileSlot, FolderFile>> {
  _id: string;
  kind: 'product' | 'channel' | 'place';
  files?: FolderContents;
}

/** The stored files of a release by hash. */
export interface FolderContents {
  /** In `releases` of the contents. */
  id: ObjectId;
  /** Tag of the package that has them. */
  tag: string;
  complete: boolean;
}

/**
 * A file that releases share. It belongs to those in `releases` whose folder has the same id in
 * `files`; the reconciler removes it with the last of them.
 */
export interface ContentDoc {
  /** SHA-256, hex. */
  _id: string;
  file: ObjectId;
  /** Bytes. */
  size: number;
  /** Chunk size of `file` in bytes. */
  chunk: number;
  at: Date;
  releases: ObjectId[];
}

/**
 * Written before the first byte, so that a crash leaves no untracked data. `incoming` is being
 * uploaded, `staged` is complete, `retired` was replaced or rejected.
 */
export interface MarkDoc {
  _id: ObjectId;
  state: 'incoming' | 'staged' | 'retired';
  at: Date;
  size?: number;
  sha256?: string;
}

export interface GridFsChunkDoc {
  _id: ObjectId;
  files_id: ObjectId;
  n: number;
  data: { buffer: Uint8Array; position: number };
}

/** Downloads never block documents. */
const MAX_POOL_SIZE = 20;
const UNAUTHORIZED_CODE = 13;
export const FILE_FIELDS = FILE_SLOTS.map((slot) => `${slot}.file`);

export interface GridFsOptions {
  /** `mongodb://…` or `mongodb+srv://…`; the database is its path, by default `aos`. */
  url: string;
  tell?: (state: ConnectionState, cause?: unknown) => void;
  /** Called for each failed write and failed cleanup. */
  failed?: (error: unknown) => void;
}

export class GridFsDatabase {
  readonly #connection: MongoConnection;
  readonly #name: string;
  #ensured: Promise<void> | null = null;

  constructor({ url, tell: onStateChange }: GridFsOptions) {
    const options: MongoClientOptions = {
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
      appName: 'aos-packages',
      maxPoolSize: MAX_POOL_SIZE,
    };
    this.#connection = new MongoConnection(url, options, onStateChange);
    this.#name = parseDatabaseName(url);
  }

  get db(): ReturnType<MongoConnection['db']> {
    return this.#connection.db(this.#name);
  }

  get folders(): Collection<FolderDoc> {
    return this.db.collection<FolderDoc>(`${BUCKET_NAME}.folders`);
  }

  get marks(): Collection<MarkDoc> {
    return this.db.collection<MarkDoc>(`${BUCKET_NAME}.marks`);
  }

  get contents(): Collection<ContentDoc> {
    return this.db.collection<ContentDoc>(`${BUCKET_NAME}.contents`);
  }

  get files(): Collection<{ _id: ObjectId }> {
    return this.db.collection<{ _id: ObjectId }>(`${BUCKET_NAME}.files`);
  }

  get chunks(): Collection<GridFsChunkDoc> {
    return this.db.collection<GridFsChunkDoc>(`${BUCKET_NAME}.chunks`);
  }

  /**
   * Runs one operation with a deadline.
   * @throws StoreUnavailable; otherwise the driver's error
   */
  run<V>(work: () => Promise<V>): Promise<V> {
    return this.#connection.run(work);
  }

  /**
   * Runs one write.
   * @throws DiskFull, DiskUnwritable, StoreUnavailable, StoreConflict; otherwise the driver's error
   */
  async write<V>(work: () => Promise<V>): Promise<V> {
    try {
      await this.#ensureIndexes();
      return await this.run(work);
    } catch (error) {
      throw toWriteError(error);
    }
  }

  /**
   * Retries an upsert that conflicts with another process.
   * @throws as `write`
   */
  upsert<V>(work: () => Promise<V>): Promise<V> {
    return this.write(() =>
      work().catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== DUPLICATE_KEY_CODE) throw error;
        return work();
      }),
    );
  }

  /** In milliseconds; marks of several processes are comparable. */
  async getServerTime(): Promise<number> {
    const { localTime } = await this.run(() => this.db.command({ hello: 1 }));
    return localTime instanceof Date ? localTime.getTime() : Date.now();
  }

  /** Free bytes on the server's disk; null when it does not report them. */
  async getFreeBytes(): Promise<number | null> {
    const { fsTotalSize, fsUsedSize } = await this.run(() => this.db.command({ dbStats: 1 }));
    const free = Number(fsTotalSize) - Number(fsUsedSize);
    return Number.isFinite(free) ? free : null;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** GridFS creates its own indexes with the first file. */
  #ensureIndexes(): Promise<void> {
    this.#ensured ??= this.#createIndexes().catch((error: unknown) => {
      this.#ensured = null;
      throw error;
    });
    return this.#ensured;
  }

  async #createIndexes(): Promise<void> {
    const indexes = ['kind', ...FILE_FIELDS].map((field) => ({ key: { [field]: 1, _id: 1 } as const }));
    await this.run(() => this.folders.createIndexes(indexes));
    await this.run(() => this.marks.createIndexes([{ key: { state: 1, _id: 1 } }]));
    const contents = ['releases', 'file'].map((field) => ({ key: { [field]: 1, _id: 1 } as const }));
    await this.run(() => this.contents.createIndexes(contents));
  }
}

function toWriteError(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code === UNAUTHORIZED_CODE)
    return new DiskUnwritable('the user of storage.url may not write to the collections of the release store', {
      cause: error,
    });
  const storeError = toStoreError(error);
  return storeError instanceof StoreFull ? new DiskFull('the disk of MongoDB is full', { cause: error }) : storeError;
}

/** @throws TypeError for an invalid id of a staged package */
export function parseStagedId(text: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(text)) throw new TypeError('not the id of a staged package');
  return new ObjectId(text);
}

const PAGE_DOCUMENTS = 500;

/** Iterates over documents in pages by `_id`, so that no cursor waits for a slow reader. */
export async function* iteratePages<D extends { _id: unknown }>(
  find: (after: D['_id'] | null, limit: number) => Promise<D[]>,
): AsyncGenerator<D[]> {
  for (let after: D['_id'] | null = null; ;) {
    const page: D[] = await find(after, PAGE_DOCUMENTS);
    if (page.length > 0) yield page;
    if (page.length < PAGE_DOCUMENTS) return;
    after = page.at(-1)?._id ?? null;
  }
}
