/**
 * The write requests on one connection, inside a transaction that committing.ts opens. Each ends in at most one
 * statement per document, so a conflict undoes nothing but itself and needs no savepoint.
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

/** @throws TypeError for a request that would write nothing and say that it had */
function given(docs: readonly DocText[]): readonly DocText[] {
  if (docs.length === 0) throw new TypeError('nothing is given to insert');
  return docs;
}

/**
 * @param careful a transaction that cannot be finished takes its own writes back; otherwise it throws `Undone`
 * @throws StoreConflict, TypeError (a programming error), Undone, or the driver's error
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

/** A change within a transaction has found no document. */
class ChangeRefused extends Error {}

/**
 * A transaction of several writes cannot be finished after some of them were made (one whose first write is refused
 * has made none). The whole batch is rolled back and done again, carefully. Rejected: a savepoint for each transaction.
 * SQLite then copies every page before the page changes, which costs a fifth of a new group, and refusals are seldom.
 */
export class Undone extends Error {}

/** Whether an error concerns one operation, not the connection. */
export const isOfOne = (error: unknown): boolean =>
  error instanceof StoreConflict || error instanceof TypeError || error instanceof ChangeRefused;

/** The bodies that are asked for; null when nothing was written. */
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

/** The writes of one transaction. */
class Steps {
  /** How many writes are made. */
  taken = 0;
  readonly #connection: Connection;
  readonly #docs: IterableIterator<DocText>;

  constructor(connection: Connection, docs: readonly DocText[]) {
    this.#connection = connection;
    this.#docs = docs[Symbol.iterator]();
  }

  /** The body, where it is asked for. @throws ChangeRefused, StoreConflict, TypeError */
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

  /** The document that is inserted or put. */
  #next(): DocText {
    return this.#docs.next().value as DocText;
  }
}
