/**
 * Write requests on one connection, inside the writer's transaction. Each ends in at most one
 * statement per document, so a conflict needs no savepoint.
 */
import { StoreConflict, type CollectionSpec, type Filter } from '../../../ports/store.js';
import type { DocText } from '../body/stored-body.js';
import type { Connection } from '../connection/connection.js';
import type { ChangeRequest, IdsRequest, TransactRequest, WriteKind, WriteRequest } from '../threads/messages.js';
import { ensureCollection } from './ensure.js';
import { TableWriter } from './table-writer.js';

type Kind = Exclude<WriteKind, 'ping' | 'ensure' | 'transact'>;
const WRITES: Record<Kind, (writer: TableWriter, text: string, docs: readonly DocText[]) => unknown> = {
  insert: (writer, _, docs) => given(docs).forEach((doc) => writer.insert(doc)),
  put: (writer, _, docs) => given(docs).forEach((doc) => writer.put(doc)),
  change: (writer, text) => writer.change(JSON.parse(text) as ChangeRequest),
  touch: (writer, text) => (writer.change(JSON.parse(text) as ChangeRequest) === null ? 0 : 1),
  changeIds: (writer, text) => writer.changeIds(JSON.parse(text) as IdsRequest),
  remove: (writer, text) => writer.remove(JSON.parse(text) as Filter),
  removeIds: (writer, text) => writer.removeIds(JSON.parse(text) as IdsRequest),
};

/** @throws TypeError for a request without documents, which would report success without writing */
function given(docs: readonly DocText[]): readonly DocText[] {
  if (docs.length === 0) throw new TypeError('nothing is given to insert');
  return docs;
}

/**
 * @param careful rolls back a failed transaction by savepoint; otherwise `TransactionAbortedError`
 *   is thrown
 * @throws StoreConflict, TypeError (a programming error), TransactionAbortedError, or the driver's
 *   error
 */
export function performWrite(
  connection: Connection,
  [kind, name, text, docs = []]: WriteRequest,
  careful = true,
): unknown {
  if (kind === 'ping') {
    if (connection.doubtful) connection.proveWritable();
    return null;
  }
  if (kind === 'transact') return transact(connection, JSON.parse(text) as TransactRequest, docs, careful);
  if (kind !== 'ensure') return WRITES[kind](new TableWriter(connection, name), text, docs);
  for (const spec of JSON.parse(text) as CollectionSpec[]) ensureCollection(connection, spec);
  return null;
}

class ChangeRefused extends Error {}

/**
 * A transaction failed after some of its writes. The batch is rolled back and repeated with
 * savepoints. A savepoint for every transaction would make SQLite copy each page before changing
 * it, and failures are rare.
 */
export class Undone extends Error {}

export const isOfOne = (error: unknown): boolean =>
  error instanceof StoreConflict || error instanceof TypeError || error instanceof ChangeRefused;

function transact(
  connection: Connection,
  writes: TransactRequest,
  docs: readonly DocText[],
  careful: boolean,
): (string | null)[] | null {
  const steps = new Steps(connection, docs);
  const all = (): (string | null)[] => writes.map((write) => steps.take(write));
  try {
    return careful ? connection.savepoint(all) : all();
  } catch (error) {
    if (!careful && steps.taken > 0 && isOfOne(error))
      throw new Undone('a transaction cannot be finished', { cause: error });
    if (error instanceof ChangeRefused || error instanceof StoreConflict) return null;
    throw error;
  }
}

class Steps {
  taken = 0;
  readonly #connection: Connection;
  readonly #docs: IterableIterator<DocText>;

  constructor(connection: Connection, docs: readonly DocText[]) {
    this.#connection = connection;
    this.#docs = docs[Symbol.iterator]();
  }

  /**
   * Returns the body where it is requested.
   * @throws ChangeRefused, StoreConflict, TypeError
   */
  take(write: TransactRequest[number]): string | null {
    const writer = new TableWriter(this.#connection, write.collection);
    let body: string | null = null;
    if ('insert' in write) writer.insert(this.#next());
    else if ('put' in write) writer.put(this.#next());
    else {
      const { change: filter, update, sort, upsert = false } = write;
      const changed = writer.change({ filter, update, upsert, ...(sort !== undefined && { sort }) });
      if (changed === null) throw new ChangeRefused();
      if (write.answer === true) body = changed[0];
    }
    this.taken += 1;
    return body;
  }

  #next(): DocText {
    return this.#docs.next().value as DocText;
  }
}
