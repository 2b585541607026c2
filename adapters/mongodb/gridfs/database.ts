/**
 * The collections of a release store in MongoDB: GridFS's own two, the folders that say what is served, and the marks
 * of what is on its way or has been replaced. Bulk of packages has a client of its own, whose pool it may fill.
 */
import { ObjectId, type Collection, type MongoClientOptions } from 'mongodb';
import { DiskFull, DiskUnwritable } from '../../../ports/release-store.js';
import { StoreFull } from '../../../ports/store.js';
import type { ConnectionState } from '../connection-lines.js';
import { MongoConnection } from '../connection.js';
import { DUPLICATE_KEY, translated } from '../errors.js';
import { databaseOf } from '../store.js';

/** GridFS names its collections by it; no collection of documents has a point in its name. */
export const BUCKET = 'releases';

/** One file of a folder: a short text in the document itself, everything else in GridFS. */
export interface Kept {
  /** Differs for every file that was ever put. */
  tag: string;
  /** Bytes. */
  size: number;
  at: Date;
  text?: string;
  file?: ObjectId;
  /** Bytes of each piece of `file` but the last. */
  chunk?: number;
  /** Hex, of a package. */
  sha256?: string;
}

export const SLOTS = ['package', 'manifest', 'signature', 'latest', 'htaccess', 'htpasswd'] as const;
export type Slot = (typeof SLOTS)[number];

/** By its path: `<product>`, `<product>/<channel>`, or the place of a package. One write replaces all of its files. */
export interface FolderDoc extends Partial<Record<Slot, Kept>> {
  _id: string;
  kind: 'product' | 'channel' | 'place';
}

/**
 * What is in GridFS and no folder names it: written before the first byte is, so that a crash leaves nothing that
 * nobody knows. `incoming` arrives, `staged` is whole, `retired` was replaced, or is refused.
 */
export interface MarkDoc {
  _id: ObjectId;
  state: 'incoming' | 'staged' | 'retired';
  /** By the server's clock. */
  at: Date;
  size?: number;
  sha256?: string;
}

export interface PieceDoc {
  _id: ObjectId;
  files_id: ObjectId;
  n: number;
  data: { buffer: Uint8Array; position: number };
}

/** Connections for packages: documents have their own, so that downloads never make them wait. */
const POOL = 20;
const FORBIDDEN = 13;
/** What a piece of a file refers to by, for the question whether anything does. */
export const FILE_FIELDS = SLOTS.map((slot) => `${slot}.file`);

export interface GridFsOptions {
  /** `mongodb://…` or `mongodb+srv://…`; the database is its path, `aos` without one. */
  url: string;
  /** Hears of the connection. */
  tell?: (state: ConnectionState, cause?: unknown) => void;
  /** Hears of each write that the server did not take, and of what could not be tidied. */
  failed?: (error: unknown) => void;
}

export class GridFsDatabase {
  readonly #connection: MongoConnection;
  readonly #name: string;
  #ensured: Promise<void> | null = null;

  constructor({ url, tell }: GridFsOptions) {
    const options: MongoClientOptions = {
      writeConcern: { w: 'majority' },
      readPreference: 'primary',
      appName: 'aos-packages',
      maxPoolSize: POOL,
    };
    this.#connection = new MongoConnection(url, options, tell);
    this.#name = databaseOf(url);
  }

  /** Of the client that serves now: ask anew for each operation. */
  get db(): ReturnType<MongoConnection['db']> {
    return this.#connection.db(this.#name);
  }

  get folders(): Collection<FolderDoc> {
    return this.db.collection<FolderDoc>(`${BUCKET}.folders`);
  }

  get marks(): Collection<MarkDoc> {
    return this.db.collection<MarkDoc>(`${BUCKET}.marks`);
  }

  get files(): Collection<{ _id: ObjectId }> {
    return this.db.collection<{ _id: ObjectId }>(`${BUCKET}.files`);
  }

  get chunks(): Collection<PieceDoc> {
    return this.db.collection<PieceDoc>(`${BUCKET}.chunks`);
  }

  /** One operation with its deadline. @throws StoreUnavailable; else the driver's error */
  run<V>(work: () => Promise<V>): Promise<V> {
    return this.#connection.run(work);
  }

  /**
   * One operation that writes.
   * @throws DiskFull, DiskUnwritable, StoreUnavailable, StoreConflict; else the driver's error
   */
  async write<V>(work: () => Promise<V>): Promise<V> {
    try {
      await this.#indexed();
      return await this.run(work);
    } catch (error) {
      throw writeFault(error);
    }
  }

  /** An upsert, whose first write may meet that of another process. @throws as `write` */
  upsert<V>(work: () => Promise<V>): Promise<V> {
    return this.write(() =>
      work().catch((error: unknown) => {
        if ((error as { code?: unknown }).code !== DUPLICATE_KEY) throw error;
        return work();
      }),
    );
  }

  /** The server's clock: marks of several processes are compared by one. Milliseconds. */
  async now(): Promise<number> {
    const { localTime } = await this.run(() => this.db.command({ hello: 1 }));
    return localTime instanceof Date ? localTime.getTime() : Date.now();
  }

  /** Of the server's disk; null: it does not say. */
  async freeBytes(): Promise<number | null> {
    const { fsTotalSize, fsUsedSize } = await this.run(() => this.db.command({ dbStats: 1 }));
    const free = Number(fsTotalSize) - Number(fsUsedSize);
    return Number.isFinite(free) ? free : null;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  /** GridFS makes its own two indexes with the first file. */
  #indexed(): Promise<void> {
    this.#ensured ??= this.#index().catch((error: unknown) => {
      this.#ensured = null;
      throw error;
    });
    return this.#ensured;
  }

  async #index(): Promise<void> {
    const indexes = ['kind', ...FILE_FIELDS].map((field) => ({ key: { [field]: 1, _id: 1 } as const }));
    await this.run(() => this.folders.createIndexes(indexes));
    await this.run(() => this.marks.createIndexes([{ key: { state: 1, _id: 1 } }]));
  }
}

function writeFault(error: unknown): unknown {
  if ((error as { code?: unknown } | null)?.code === FORBIDDEN)
    return new DiskUnwritable('the user of storage.url may not write to the collections of the release store', {
      cause: error,
    });
  const told = translated(error);
  return told instanceof StoreFull ? new DiskFull('the disk of MongoDB is full', { cause: error }) : told;
}

/** @throws TypeError for what is no id of a staged package */
export function idOf(text: string): ObjectId {
  if (!/^[0-9a-f]{24}$/.test(text)) throw new TypeError('this is not the id of a staged package');
  return new ObjectId(text);
}

const PAGE = 500;

/** Documents in pages by `_id`, so that no cursor waits for a slow reader. @param find answers those behind an id */
export async function* paged<D extends { _id: unknown }>(
  find: (after: D['_id'] | null, limit: number) => Promise<D[]>,
): AsyncGenerator<D[]> {
  for (let after: D['_id'] | null = null; ;) {
    const page: D[] = await find(after, PAGE);
    if (page.length > 0) yield page;
    if (page.length < PAGE) return;
    after = page.at(-1)?._id ?? null;
  }
}
