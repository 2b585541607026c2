/**
 * Document store in one SQLite file, for installations without a database server. The event loop
 * must not wait for the disk, so one thread writes with group commit and one reads. Only `get` by
 * id runs on the main thread, because it costs less than a thread round trip. WAL lets readers, and
 * commands in other processes, run concurrently with the writer.
 */
import { access, chmod, constants, lstat, open, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { requireOwnedFile } from '../../lib/files/trusted-file.js';
import { makeFolders } from '../../lib/folders.js';
import { stringifyJson, toPlainUpdate } from '../../ports/document.js';
import type { CorruptDocument } from '../../ports/store/damage.js';
import type { StoreExaminationResult } from '../../ports/store/examination.js';
import type { Collection, CollectionSpec, Doc, DocumentStore, Transact } from '../../ports/store/index.js';
import { SqliteCollection, type StorageThreads } from './collection.js';
import { Connection, type ConnectionOptions } from './connection/connection.js';
import { isBusyError, isMissingTableError } from './driver/driver.js';
import { toOutcome, unwrapOutcome, type RequestOutcome, type WholeDoc } from './threads/messages.js';
import { readWholeDoc } from './reading/read-requests.js';
import { readBytesField } from './schema/bytes-column.js';
import { openReader } from './reading/reader.js';
import { openWriter } from './writing/writer.js';
import { readDeclaration } from './schema/declarations.js';
import { encodeDoc, restoreBody, type EncodedDoc, type SeparateFields } from './stored-body.js';
import { createOpenError, type RequestExecutor } from './threads/executor.js';
import { InlineExecutor } from './threads/inline-executor.js';
import { WorkerExecutor } from './threads/worker-executor.js';
import { ensureSingleName } from './hard-link-check.js';
import { CorruptionLog } from './corruption-log.js';

export interface SqliteStoreOptions {
  path: string;
  /** `full` (default): a commit is on disk; `normal`: a power failure may lose the last commits. */
  durability?: 'full' | 'normal';
  /** `external`: another program, such as Litestream, makes them; none is made here. */
  checkpoints?: 'service' | 'external';
  /**
   * If false, the calling thread blocks on the disk, and the write connection opens with the first
   * write.
   */
  threads?: boolean;
}

const NO_SEPARATE_FIELDS: SeparateFields = { compressed: undefined, bytes: undefined };
const COLLECTION_NAME_PATTERN = /^[a-z][a-z0-9_]*$/;
/** The reader thread takes over after a short wait for a lock. */
const MAIN_THREAD_OPTIONS = { busyMs: 2, cacheKb: 1_000 };

function validateCollectionName(name: string): void {
  if (!COLLECTION_NAME_PATTERN.test(name)) throw new TypeError(`not a collection name: ${JSON.stringify(name)}`);
}

export class SqliteStore implements DocumentStore {
  readonly engine = 'sqlite';
  readonly transact: Transact = async (writes) => {
    for (const { collection } of writes) validateCollectionName(collection);
    const docs: EncodedDoc[] = [];
    const plain = writes.map((write) => {
      if ('update' in write) return { ...write, update: toPlainUpdate(write.update) };
      docs.push(encodeDoc('put' in write ? write.put : write.insert, this.#getSeparateFields(write.collection)));
      return 'put' in write ? { ...write, put: true } : { ...write, insert: true };
    });
    const names = plain.map(({ collection }) => collection).join(' ');
    const bodies = (await this.#writer.call(['transact', names, stringifyJson(plain), docs])) as
      (string | null)[] | null;
    return bodies && bodies.map((body) => (body === null ? null : (JSON.parse(body) as Doc)));
  };
  readonly #options: ConnectionOptions;
  readonly #writer: RequestExecutor;
  readonly #corruptionLog = new CorruptionLog();
  readonly #reader: RequestExecutor;
  readonly #threads: StorageThreads = {
    get: (collection, id) => this.#get(collection, id),
    getBytesField: (collection) => this.#getSeparateFields(collection).bytes,
    getWhole: (collection, id) => this.#getWhole(collection, id),
    reportDamage: this.#corruptionLog.record,
    read: (kind, collection, text) => this.#reader.call([kind, collection, text]),
    write: (kind, collection, text) => this.#writer.call([kind, collection, text]),
    put: (kind, collection, doc) =>
      this.#writer.call([kind, collection, '', [encodeDoc(doc, this.#getSeparateFields(collection))]]),
  };
  readonly #separateFields = new Map<string, SeparateFields>();
  #connection: Connection | null = null;

  constructor({ path, durability = 'full', checkpoints = 'service', threads = true }: SqliteStoreOptions) {
    const connection = { path, durability, checkpoints };
    this.#options = connection;
    const failed = this.#corruptionLog.record;
    this.#writer = threads
      ? new WorkerExecutor('writer', connection, failed)
      : new InlineExecutor(path, () => openWriter(connection), failed);
    this.#reader = threads
      ? new WorkerExecutor('reader', connection, failed)
      : new InlineExecutor(path, () => openReader(connection), failed);
  }

  /** @throws SQLite's error when the file cannot be opened */
  async connect(): Promise<void> {
    if (this.#connection !== null) return;
    await makeFolders(dirname(this.#options.path), 0o700);
    await makePrivate(this.#options.path);
    try {
      // The writer opens first, so that it and not the main thread replays the log after a crash.
      await this.#writer.start();
      await this.#reader.start();
      this.#connection = this.#getConnection();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @throws TypeError on an invalid name */
  collection<T extends Doc>(name: string): Collection<T> {
    validateCollectionName(name);
    return new SqliteCollection<T>(name, this.#threads);
  }

  async listCollections(): Promise<string[]> {
    if (!this.#connection) throw new Error('the store is not open');
    const tables = this.#connection.prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`,
    );
    return tables
      .all([])
      .map(([name]) => String(name))
      .filter((name) => COLLECTION_NAME_PATTERN.test(name));
  }

  async ensure(specs: readonly CollectionSpec[]): Promise<void> {
    for (const { name } of specs) this.collection(name);
    await this.#writer.call(['ensure', '', JSON.stringify(specs)]);
    this.#separateFields.clear();
  }

  /** Only succeeds while writes are possible. */
  async ping(): Promise<number> {
    const start = performance.now();
    await this.#writer.call(['ping', '', '']);
    return performance.now() - start;
  }

  /** Runs on a separate thread that pauses as long as it works: at most half a core. */
  async examine(signal?: AbortSignal): Promise<StoreExaminationResult> {
    signal?.throwIfAborted();
    const thread = new WorkerExecutor('reader', this.#options);
    await thread.start();
    try {
      for (;;) {
        const began = performance.now();
        const found = (await thread.call(['examine', '', ''])) as StoreExaminationResult | null;
        signal?.throwIfAborted();
        if (found !== null) return found;
        await rest(performance.now() - began);
      }
    } finally {
      await thread.close();
    }
  }

  listDamage(): readonly CorruptDocument[] {
    return this.#corruptionLog.list();
  }

  async getSize(): Promise<number> {
    const { path } = this.#options;
    const sizes = await Promise.all([stat(path), stat(`${path}-wal`).catch(() => ({ size: 0 }))]);
    return sizes.reduce((sum, { size }) => sum + size, 0);
  }

  async close(): Promise<void> {
    await this.#writer.close();
    await this.#reader.close();
    this.#connection?.close();
    this.#connection = null;
  }

  #getConnection(): Connection {
    try {
      return new Connection(this.#options, MAIN_THREAD_OPTIONS);
    } catch (error) {
      throw createOpenError(this.#options.path, error);
    }
  }

  /**
   * Declarations of other processes apply at the next start; both forms of a document are readable.
   */
  #getSeparateFields(collection: string): SeparateFields {
    const known = this.#separateFields.get(collection);
    if (known !== undefined || this.#connection === null) return known ?? NO_SEPARATE_FIELDS;
    const { compressed } = readDeclaration(this.#connection, collection);
    const apart = { compressed, bytes: readBytesField(this.#connection, collection) };
    this.#separateFields.set(collection, apart);
    return apart;
  }

  #throwOutcome(outcome: RequestOutcome): never {
    try {
      return unwrapOutcome(outcome) as never;
    } catch (error) {
      this.#corruptionLog.record(error);
      throw error;
    }
  }

  async #getWhole(collection: string, id: string): Promise<WholeDoc | null> {
    if (!this.#connection) throw new Error('the store is not open');
    try {
      return readWholeDoc(this.#connection, collection, this.#getSeparateFields(collection).bytes, id);
    } catch (error) {
      if (isBusyError(error)) return this.#reader.call(['whole', collection, id]) as Promise<WholeDoc | null>;
      return this.#throwOutcome(toOutcome(error, collection, id));
    }
  }

  #get(collection: string, id: string): string | null | Promise<string | null> {
    if (!this.#connection) throw new Error('the store is not open');
    try {
      const statement = this.#connection.prepare(`SELECT body FROM "${collection}" WHERE id = ?`);
      const stored = (statement.get([id])?.[0] ?? null) as string | null;
      return stored === null ? null : restoreBody(stored);
    } catch (error) {
      if (isMissingTableError(error)) return null;
      if (isBusyError(error)) return this.#reader.call(['get', collection, id]) as Promise<string | null>;
      return this.#throwOutcome(toOutcome(error, collection, id));
    }
  }
}

/**
 * The file is created with this mode before SQLite opens it, which gives its log the same mode;
 * files of earlier versions are tightened. An existing file is not opened: closing it would release
 * the POSIX locks of other connections in this process.
 */
async function makePrivate(path: string): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await requireOwnedFile(path, 'file');
    // Node reports a read-only disk or another user's file more clearly than SQLite.
    await access(path, constants.R_OK | constants.W_OK);
  }
  const found = await stat(path);
  if (!found.isFile())
    throw Object.assign(new Error(`cannot open ${path}: it is not a file`), { code: 'EISDIR', path });
  await ensureSingleName(path, found);
  for (const name of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      // The target of a link may belong to someone else; only the store itself may be a link.
      const stats = name === path ? await stat(name) : await lstat(name);
      if (stats.isFile() && (stats.mode & 0o077) !== 0) await chmod(name, 0o600);
    } catch (error) {
      // The file does not exist yet, or belongs to another user, which `aos doctor` reports.
      if (!['ENOENT', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
}
