/**
 * Write requests on one connection, inside the writer's transaction. Each ends in at most one
 * statement per document, so a conflict needs no savepoint.
 */
import { StoreConflict, type CollectionSpec, type Filter } from '../../../ports/store/index.js';
import type { EncodedDoc } from '../stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { ChangeRequest, IdsRequest, TransactRequest, WriteKind, WriteRequest } from '../threads/messages.js';
import { ensureCollection } from './ensure-collection.js';
import { TableWriter } from './table-writer.js';

type DocWriteKind = Exclude<WriteKind, 'ping' | 'ensure' | 'transact'>;
const WRITE_OPERATIONS: Record<
  DocWriteKind,
  (writer: TableWriter, text: string, docs: readonly EncodedDoc[]) => unknown
> = {
  insert: (writer, _, docs) => requireDocs(docs).forEach((doc) => writer.insert(doc)),
  put: (writer, _, docs) => requireDocs(docs).forEach((doc) => writer.put(doc)),
  change: (writer, text) => writer.change(JSON.parse(text) as ChangeRequest),
  touch: (writer, text) => (writer.change(JSON.parse(text) as ChangeRequest) === null ? 0 : 1),
  changeIds: (writer, text) => writer.changeIds(JSON.parse(text) as IdsRequest),
  remove: (writer, text) => writer.remove(JSON.parse(text) as Filter),
  removeIds: (writer, text) => writer.removeIds(JSON.parse(text) as IdsRequest),
};

/** @throws TypeError for a request without documents, which would report success without writing */
function requireDocs(docs: readonly EncodedDoc[]): readonly EncodedDoc[] {
  if (docs.length === 0) throw new TypeError('an insert requires at least one document');
  return docs;
}

/**
 * @param careful rolls back a failed transaction by savepoint
 * @throws StoreConflict, TypeError (a programming error), TransactionAbortedError, or the driver's
 *   error
 */
export function performWrite(
  connection: Connection,
  [kind, name, text, docs = []]: WriteRequest,
  careful = true,
): unknown {
  if (kind === 'ping') {
    if (connection.isWriteDoubtful) connection.checkWritable();
    return null;
  }
  if (kind === 'transact') return runTransaction(connection, JSON.parse(text) as TransactRequest, docs, careful);
  if (kind !== 'ensure') return WRITE_OPERATIONS[kind](new TableWriter(connection, name), text, docs);
  for (const spec of JSON.parse(text) as CollectionSpec[]) ensureCollection(connection, spec);
  return null;
}

class UnmatchedChangeError extends Error {}

/**
 * The batch is rolled back and repeated with savepoints. A savepoint for every transaction would
 * make SQLite copy each page before changing it, and failures are rare.
 */
export class TransactionAbortedError extends Error {}

export const isOperationError = (error: unknown): boolean =>
  error instanceof StoreConflict || error instanceof TypeError || error instanceof UnmatchedChangeError;

function runTransaction(
  connection: Connection,
  writes: TransactRequest,
  docs: readonly EncodedDoc[],
  careful: boolean,
): (string | null)[] | null {
  const steps = new TransactionWriter(connection, docs);
  const all = (): (string | null)[] => writes.map((write) => steps.apply(write));
  try {
    return careful ? connection.runSavepoint(all) : all();
  } catch (error) {
    if (!careful && steps.completedWrites > 0 && isOperationError(error))
      throw new TransactionAbortedError('a transaction could not be finished', { cause: error });
    if (error instanceof UnmatchedChangeError || error instanceof StoreConflict) return null;
    throw error;
  }
}

class TransactionWriter {
  completedWrites = 0;
  readonly #connection: Connection;
  readonly #docs: IterableIterator<EncodedDoc>;

  constructor(connection: Connection, docs: readonly EncodedDoc[]) {
    this.#connection = connection;
    this.#docs = docs[Symbol.iterator]();
  }

  /**
   * Returns the body where it is requested.
   * @throws UnmatchedChangeError, StoreConflict, TypeError
   */
  apply(write: TransactRequest[number]): string | null {
    const writer = new TableWriter(this.#connection, write.collection);
    let body: string | null = null;
    if ('insert' in write) writer.insert(this.#nextDoc());
    else if ('put' in write) writer.put(this.#nextDoc());
    else {
      const { change: filter, update, sort, upsert = false } = write;
      const changed = writer.change({ filter, update, upsert, ...(sort !== undefined && { sort }) });
      if (changed === null) throw new UnmatchedChangeError();
      if (write.answer === true) body = changed[0];
    }
    this.completedWrites += 1;
    return body;
  }

  #nextDoc(): EncodedDoc {
    return this.#docs.next().value as EncodedDoc;
  }
}
