/**
 * DocumentStore: one typed collection interface over every engine (memory, SQLite, MongoDB).
 * Documents are JSON; one field per collection may hold bytes. Ids are generated strings (UUIDv7 or
 * a computed key), times are ISO-8601 UTC text.
 *
 * A standalone MongoDB has no transactions: changes of two documents need an order, a marker and a
 * reconciler (docs/consistency.md); `transact` serves a few hot paths. Writes resolve once durable
 * (SQLite: `synchronous=FULL`; MongoDB: majority).
 *
 * Common semantics, verified by testing/contracts/store.ts:
 * - `true` is not `1`, `'1'` is not `1`;
 * - a missing field equals null, in filters and sorting (null sorts first ascending);
 * - text is ordered by code point;
 * - comparisons (`gt` …) match only values of the operand's type;
 * - a dotted path traverses objects, never array elements;
 * - a path holds one kind of value in all documents (text, numbers, booleans, an array or an
 *   object), null, or nothing, because MongoDB's equality matches array elements and its order of
 *   mixed kinds differs;
 * - lone surrogates become U+FFFD;
 * - paths match `FIELD_PATH_PATTERN`; user input never becomes a path.
 */

import type { CorruptDocument, StoreDamaged } from './store/damage.js';
import type { StoreExaminationResult } from './store/examination.js';

export { StoreDamaged, type DamageLocation } from './store/damage.js';

export type Scalar = string | number | boolean | null;
export type Json = Scalar | Json[] | { [key: string]: Json | undefined };

/** A stored document; `undefined` fields are not stored. */
export interface Doc {
  id: string;
}

/** Valid field path: `claim.expires_at`. Never `__proto__` or `$x`. */
export const FIELD_PATH_PATTERN = /^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*)*$/;

/** A scalar means equality. All operators of an object must match. */
export type Condition =
  | Scalar
  | {
      /** Equals one of these; null matches a missing field. An empty list matches nothing. */
      in?: readonly Scalar[];
      /**
       * Not equal; `{ne: null}` means present. A missing field differs from every non-null value.
       */
      ne?: Scalar;
      gt?: string | number;
      gte?: string | number;
      lt?: string | number;
      lte?: string | number;
      /** True: present and not null; false: missing or null. */
      exists?: boolean;
      /** Text prefix, case-sensitive. */
      prefix?: string;
      /**
       * Contained text, or all of several; case-sensitive. For case-insensitive search, store a
       * folded field.
       */
      contains?: string | readonly string[];
      /** Array element. */
      has?: Scalar;
      /** Any of several array elements. */
      has_any?: readonly Scalar[];
    };

/** All conditions must match; `or` (one level) matches when any of its filters does. */
export type Filter = { [path: string]: Condition | readonly Filter[] | undefined; or?: readonly Filter[] };

/**
 * An update; paths as in filters, not nested in one another and not `id` (TypeError). Semantics:
 * `applyUpdate` in ports/document.ts.
 *
 * Writes traverse objects or missing fields. `inc`, `min`, `push` and `pull` require their kind of
 * value or a missing field, never null, which MongoDB rejects or ignores.
 */
export interface Update {
  /** Undefined values act as `unset`. */
  set?: { [path: string]: Json | undefined };
  unset?: readonly string[];
  /** Adds; a missing field counts as 0. */
  inc?: { [path: string]: number };
  /**
   * Writes if greater than the stored value (numbers, or text by code point) or the field is
   * missing.
   */
  max?: { [path: string]: string | number };
  /** Writes if smaller than the stored value or the field is missing. */
  min?: { [path: string]: string | number };
  /** Applies only when an upsert creates the document. */
  setOnInsert?: { [path: string]: Json | undefined };
  /** Appends to an array (created when missing) and keeps the last `keep` elements. */
  push?: { [path: string]: { each: readonly Json[]; keep?: number } };
  /** Removes array elements whose `field` (or which themselves) equals one of `in`. */
  pull?: { [path: string]: { field?: string; in: readonly Scalar[] } };
}

export type SortOrder = 'asc' | 'desc';
/**
 * Sort keys holding scalars; the adapter appends `id` in the last key's direction, for a total
 * order.
 */
export type Sort = readonly (readonly [path: string, order: SortOrder])[];

export interface FindQuery {
  filter?: Filter;
  /** Default: by id, ascending. */
  sort?: Sort;
  /** 1 to 1,000; default 50. */
  limit?: number;
  /**
   * `next` of an earlier page with the same sort, otherwise `InvalidCursor`. Keyset paging: every
   * page costs the same.
   */
  after?: string | null;
  /**
   * Skips damaged documents and reports each, for lists and bulk work. Fields outside indexes count
   * as missing there. Absent: the page fails, so that a damaged document is not mistaken for a
   * missing one.
   */
  damaged?: (error: StoreDamaged) => void;
}

export interface Page<T> {
  items: T[];
  /** Cursor of the next page; null on the last. */
  next: string | null;
}

export interface ChangeOptions {
  /** Selects one of several matches. */
  sort?: Sort;
  /**
   * Creates `{id, …setOnInsert, …}` when none matches; the filter must specify `id` by equality.
   */
  upsert?: boolean;
}

export interface ChangeResult<T> {
  /** Document after the change. */
  doc: T;
  created: boolean;
}

/**
 * `put` replaces or inserts a whole document. `change` writes at most one document, `remove` every
 * match.
 */
export type WriteOp<T extends Doc> =
  { insert: T } | { put: T } | { change: Filter; update: Update; upsert?: boolean } | { remove: Filter };

/** Result per operation, in order: documents written, or the conflict of that operation alone. */
export type WriteResult = { n: number } | { conflict: string };

export interface Collection<T extends Doc> {
  get(id: string): Promise<T | null>;
  find(query?: FindQuery): Promise<Page<T>>;
  count(filter?: Filter): Promise<number>;
  /** Counts documents by value of `path`; missing counts as null. */
  groupCount(path: string, filter?: Filter): Promise<{ key: Scalar; n: number }[]>;
  /** Inserts a document. @throws StoreConflict naming the index (`id` for the primary key) */
  insert(doc: T): Promise<void>;
  /**
   * Finds and modifies one document atomically; null when none matched.
   * @throws StoreConflict
   */
  change(filter: Filter, update: Update, options?: ChangeOptions): Promise<ChangeResult<T> | null>;
  /** Changes up to `limit` matches, not atomically as a whole, and returns their number. */
  changeMany(filter: Filter, update: Update, limit?: number): Promise<number>;
  remove(filter: Filter, limit?: number): Promise<number>;
  /** Executes unordered, independent operations in one round trip. */
  bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]>;
}

/**
 * An index. `unique` has exactly one field and is sparse; use a computed key for several, which
 * every MongoDB-compatible server supports. Its values are text, numbers or missing; null is a
 * TypeError, because sparse MongoDB indexes include it. Other indexes get `id` appended for
 * sorting.
 */
export interface IndexSpec {
  fields: readonly string[];
  unique?: boolean;
}

export interface CollectionSpec {
  name: string;
  indexes: readonly IndexSpec[];
  /**
   * Paths indexed for selective lookups in any sort order: equality, `in` and ranges of scalars,
   * `has` and `has_any` of arrays. Documents without the path cost nothing.
   */
  values?: readonly string[];
  /**
   * Texts indexed for `contains` from three characters; shorter ones scan. Written only by inserts
   * and by `set` or `unset` of exactly that path.
   */
  search?: readonly string[];
  /**
   * Large, rarely read fields that an engine may compress; not usable in indexes, filters and
   * sorts.
   */
  compressed?: readonly string[];
  /**
   * Optional top-level Uint8Array field. `insert` and `put` write it, `get` and `find` return it,
   * changes preserve and omit it. Not usable in indexes, filters, sorts and updates.
   */
  bytes?: string;
}

export type TransactionWrite =
  | { collection: string; insert: Doc }
  | { collection: string; put: Doc }
  | (ChangeOptions & {
      collection: string;
      change: Filter;
      update: Update;
      /** Returns the document. */
      answer?: boolean;
    });

/**
 * Executes writes of several collections in order, all or none. Returns null without writing when
 * an insert conflicts or a change without `upsert` matches nothing; otherwise per write the
 * document after a change with `answer`, else null.
 */
export type Transact = (writes: readonly TransactionWrite[]) => Promise<(Doc | null)[] | null>;

export interface DocumentStore {
  readonly engine: 'memory' | 'sqlite' | 'mongodb';
  connect(): Promise<void>;
  /** Returns a collection, which may not exist yet. Names match `^[a-z][a-z0-9_]*$`. */
  collection<T extends Doc>(name: string): Collection<T>;
  /** Lists existing collections by name, including undeclared ones. */
  listCollections(): Promise<string[]>;
  /**
   * Creates missing collections and indexes and drops outdated ones; idempotent, and safe for
   * concurrent processes.
   */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  /**
   * Null on engines without general transactions, such as MongoDB; callers need an alternative with
   * order, marker and reconciler (docs/consistency.md).
   */
  readonly transact: Transact | null;
  /** Returns the round trip in milliseconds. */
  ping(): Promise<number>;
  /**
   * Reads all stored data concurrently with other work and reports what is unreadable. Absent when
   * a database server maintains the files.
   * @throws StoreUnavailable, or the signal's reason
   */
  readonly examine?: (signal?: AbortSignal) => Promise<StoreExaminationResult>;
  /** Lists damage encountered since start, where the engine reports it. */
  readonly listDamage?: () => readonly CorruptDocument[];
  /** Returns the bytes on disk, or null. */
  getSize(): Promise<number | null>;
  /** Waits for active writes, then closes. */
  close(): Promise<void>;
}

/** A unique index rejected a write. */
export class StoreConflict extends Error {
  override name = 'StoreConflict';
  /** @param index the unique field, or `id` */
  constructor(readonly index: string) {
    super(`a document with this ${index} exists`);
  }
}

/** The disk or its quota is full; nothing was written. HTTP 507. */
export class StoreFull extends Error {
  override name = 'StoreFull';
  constructor(options?: ErrorOptions) {
    super('the store has no room left', options);
  }
}

/** The store is unreachable or temporarily not writable. HTTP 503. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  constructor(options?: ErrorOptions, reason = 'the store cannot be reached') {
    super(reason, options);
  }
}

/** A cursor that does not belong to this sort. HTTP 400 `invalid_cursor`. */
export class InvalidCursor extends Error {
  override name = 'InvalidCursor';
  constructor() {
    super('the cursor is not one that this list made');
  }
}
