/**
 * DocumentStore: one typed collection interface over every engine (memory, SQLite, MongoDB); no repository per
 * entity.
 *
 * Documents are JSON, but for one field of a collection that may hold bytes. Ids are strings made by us (UUIDv7 or a
 * key that the domain computes), times are ISO-8601 UTC text. A standalone MongoDB has no transactions: what touches
 * two documents has an order, a marker and a reconciler (docs/consistency.md), and `transact` is for the few hot paths
 * that are worth a second way. Every promise of a write resolves only after the write is durable in the sense of the
 * adapter (SQLite: committed with `synchronous=FULL`; MongoDB: majority acknowledged).
 *
 * Edges that every adapter shares, pinned by test/kit/contracts/store.ts:
 *  - `true` is not `1`, `'1'` is not `1`;
 *  - a missing field equals null, in filters and in sorting (null sorts first ascending);
 *  - text is ordered by code point, not by UTF-16 unit;
 *  - comparisons (`gt` …) match only values of the same type as the operand;
 *  - a dotted path walks objects, never array elements;
 *  - a path holds one kind of value in all documents (text, numbers, booleans, an array or an object), or null, or is
 *    missing: MongoDB's equality also looks into arrays, and its order of mixed kinds is its own;
 *  - lone surrogates are stored and compared as U+FFFD, for both engines store UTF-8;
 *  - user input never becomes a path: paths match `PATH` and are refused otherwise.
 */

import type { MetDamage, StoreDamaged } from './store/damage.js';
import type { Examined } from './store/examination.js';

export { StoreDamaged, type DamagedPlace } from './store/damage.js';

export type Scalar = string | number | boolean | null;
export type Json = Scalar | Json[] | { [key: string]: Json | undefined };

/** A stored document. Fields set to `undefined` are not stored. */
export interface Doc {
  id: string;
}

/** What a path may look like: `claim.expires_at`. Segments are our own field names, so never `__proto__` or `$x`. */
export const PATH = /^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*)*$/;

/** A bare scalar is equality. Several operators in one object must all hold. */
export type Condition =
  | Scalar
  | {
      /** Equal to one of these; null matches a missing field. An empty list matches nothing. */
      in?: readonly Scalar[];
      /** Not equal; `{ne: null}` means present. A missing field differs from every non-null value. */
      ne?: Scalar;
      gt?: string | number;
      gte?: string | number;
      lt?: string | number;
      lte?: string | number;
      /** Present and not null, or missing or null. */
      exists?: boolean;
      /** Text that starts with this; exact case. */
      prefix?: string;
      /**
       * Text that contains this, or each of these; exact case: fold case into a field of your own where that is
       * wanted.
       */
      contains?: string | readonly string[];
      /** An array that has this element. */
      has?: Scalar;
      /** An array that has at least one of these elements. */
      has_any?: readonly Scalar[];
    };

/** All conditions must hold. `or` (one level) holds when one of its filters does. */
export type Filter = { [path: string]: Condition | readonly Filter[] | undefined; or?: readonly Filter[] };

/**
 * What to write. Paths as in filters. No path of an update equals or lies within another, and none is `id`: a
 * TypeError. Semantics are those of `applyUpdate` in ports/document.ts, which memory and SQLite run. A write goes
 * through objects or missing fields, and `inc`, `min`, `push` and `pull` meet their kind of value or a missing field:
 * null there is an error too, because MongoDB refuses or ignores it. So a field that they work on is left out, never
 * stored as null.
 */
export interface Update {
  /** An undefined value is an `unset`. */
  set?: { [path: string]: Json | undefined };
  unset?: readonly string[];
  /** Adds; a missing field counts as 0. */
  inc?: { [path: string]: number };
  /** Writes when greater than the stored value (numbers, or text by code point), or the field is missing. */
  max?: { [path: string]: string | number };
  /** Writes when smaller than the stored value, or the field is missing. */
  min?: { [path: string]: string | number };
  /** Only when an upsert creates the document. */
  setOnInsert?: { [path: string]: Json | undefined };
  /** Appends to an array (created when missing) and keeps the last `keep` elements. */
  push?: { [path: string]: { each: readonly Json[]; keep?: number } };
  /** Removes array elements whose `field` (or, without `field`, which themselves) equals one of `in`. */
  pull?: { [path: string]: { field?: string; in: readonly Scalar[] } };
}

export type SortOrder = 'asc' | 'desc';
/**
 * Sort keys in order; the adapter appends `id` in the last key's direction, so the order is total. Keys hold scalars.
 */
export type Sort = readonly (readonly [path: string, order: SortOrder])[];

export interface Find {
  filter?: Filter;
  /** Default: by id, ascending. */
  sort?: Sort;
  /** 1 to 1,000; default 50. */
  limit?: number;
  /**
   * `next` of an earlier page with the same sort; otherwise `InvalidCursor`. Keyset: page 1,000 costs what page 1
   * costs.
   */
  after?: string | null;
  /**
   * For lists, and work on many documents, of which a damaged one must not hold up the others: told of each that cannot
   * be read, and the page comes without it. What no index holds of it counts as missing. Absent: every page with such a
   * document fails, so that nothing takes it for one that is not there.
   */
  damaged?: (error: StoreDamaged) => void;
}

export interface Page<T> {
  items: T[];
  /** Cursor of the next page, or null when this was the last one. */
  next: string | null;
}

export interface ChangeOptions {
  /** Which document, when several match. */
  sort?: Sort;
  /** Create `{id, …setOnInsert, …}` when none matches; the filter must then name the `id` by equality. */
  upsert?: boolean;
}

export interface Changed<T> {
  /** The document as the change left it. */
  doc: T;
  created: boolean;
}

/**
 * `put` takes the place of the document with its id, whole, or is inserted. `change` writes at most one document,
 * `remove` every match.
 */
export type WriteOp<T extends Doc> =
  { insert: T } | { put: T } | { change: Filter; update: Update; upsert?: boolean } | { remove: Filter };

/** One answer per operation, in order: the count written, or the conflict that stopped that one alone. */
export type WriteResult = { n: number } | { conflict: string };

export interface Collection<T extends Doc> {
  get(id: string): Promise<T | null>;
  find(query?: Find): Promise<Page<T>>;
  count(filter?: Filter): Promise<number>;
  /** Counts per distinct value of `path` (missing counts as null). */
  groupCount(path: string, filter?: Filter): Promise<{ key: Scalar; n: number }[]>;
  /** @throws StoreConflict naming the index (`id` for the primary key). */
  insert(doc: T): Promise<void>;
  /** Atomic find-and-modify of one document; null when none matched. @throws StoreConflict */
  change(filter: Filter, update: Update, options?: ChangeOptions): Promise<Changed<T> | null>;
  /** Every match, at most `limit`; not atomic as a whole. Answers how many. */
  changeMany(filter: Filter, update: Update, limit?: number): Promise<number>;
  remove(filter: Filter, limit?: number): Promise<number>;
  /** Unordered and independent operations, sent in one round trip. */
  bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]>;
}

/**
 * An index. `unique` takes exactly one field and ignores documents that lack it (sparse): uniqueness over several
 * fields is a computed key field, so that the same works on every MongoDB-compatible server. A unique field holds
 * text or a number or is missing; null is a TypeError, because a sparse index of MongoDB takes null for a value. `id`
 * is appended to every other index, so that it serves a sort by its last fields.
 */
export interface IndexSpec {
  fields: readonly string[];
  unique?: boolean;
}

export interface CollectionSpec {
  name: string;
  indexes: readonly IndexSpec[];
  /**
   * Paths by whose values few documents are found among many, in whatever order they are listed: by equality, `in` and
   * ranges of a scalar, and by `has` and `has_any` of an array. Unlike an index it holds nothing of a document that
   * lacks the path, and a new document pays for the values that it has.
   */
  values?: readonly string[];
  /**
   * Texts that `contains` looks for, of three characters and more; shorter parts are looked for in every document. Each
   * path is written by inserts and by `set` and `unset` of that very path.
   */
  search?: readonly string[];
  /**
   * Fields, large and seldom read, that an engine may keep compressed. No index is over them, and no filter and no sort
   * names them.
   */
  compressed?: readonly string[];
  /**
   * A top-level field that holds a Uint8Array or is missing. `insert` and `put` write it, and `get` and `find` return
   * it; a change leaves it as it is and answers without it. No index, filter, sort or update names it.
   */
  bytes?: string;
}

/** One write of a transaction. */
export type TransactionWrite =
  | { collection: string; insert: Doc }
  | { collection: string; put: Doc }
  | (ChangeOptions & {
      collection: string;
      change: Filter;
      update: Update;
      /** Its document is answered; otherwise it stays in the store. */
      answer?: boolean;
    });

/**
 * Writes of several collections in their order, all of them or none, with one commit. Null, and nothing written, when
 * an insert meets a document with its id or a unique field, or a change without `upsert` finds none. Otherwise one
 * answer for each write: the document as a change with `answer` left it, else null.
 */
export type Transact = (writes: readonly TransactionWrite[]) => Promise<(Doc | null)[] | null>;

export interface DocumentStore {
  readonly engine: 'memory' | 'sqlite' | 'mongodb';
  connect(): Promise<void>;
  /** The collection; it need not exist yet. Names match `^[a-z][a-z0-9_]*$`. */
  collection<T extends Doc>(name: string): Collection<T>;
  /** The names of the collections that are there, in order; also those that nobody declares any more. */
  collections(): Promise<string[]>;
  /**
   * Creates collections and indexes that are missing, and drops those of an earlier declaration; idempotent, and safe
   * from two processes at once.
   */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  /**
   * Null on an engine that has no transactions everywhere, as MongoDB. What uses it therefore has another way too: an
   * order, a marker and a reconciler (docs/consistency.md).
   */
  readonly transact: Transact | null;
  /** One round trip, in milliseconds. */
  ping(): Promise<number>;
  /**
   * Reads all that is stored and says what cannot be read, beside reads and writes, for as long as that takes. An
   * engine whose server looks after its files itself has none.
   * @throws StoreUnavailable, or the signal's reason
   */
  readonly examine?: (signal?: AbortSignal) => Promise<Examined>;
  /** Damage that calls have met since the start, where the engine can tell. */
  readonly damage?: () => readonly MetDamage[];
  /** Bytes on disk, or null where the engine does not know. */
  size(): Promise<number | null>;
  /** Waits for writes under way, then closes. */
  close(): Promise<void>;
}

/** A unique index refused a write. */
export class StoreConflict extends Error {
  override name = 'StoreConflict';
  /** @param index the unique field, or `id`. */
  constructor(readonly index: string) {
    super(`a document with this ${index} exists`);
  }
}

/** The disk below the store is full, or its quota used up: nothing was written. The HTTP adapter answers 507. */
export class StoreFull extends Error {
  override name = 'StoreFull';
  constructor(options?: ErrorOptions) {
    super('the store has no room left', options);
  }
}

/** The store cannot be reached, or takes no writes at the moment. The HTTP adapter answers 503. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  constructor(options?: ErrorOptions, reason = 'the store cannot be reached') {
    super(reason, options);
  }
}

/** A cursor that this store did not make for this sort. The HTTP adapter answers 400 `invalid_cursor`. */
export class InvalidCursor extends Error {
  override name = 'InvalidCursor';
  constructor() {
    super('the cursor is not one that this list made');
  }
}
