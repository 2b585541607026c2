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

import type { CorruptDocument, StoreDamaged } from './damage.js';
import type { StoreExaminationResult } from './examination.js';

export { StoreDamaged, type DamageLocation } from './damage.js';

export type Scalar = string | number | boolean | null;
export type Json = Scalar | Json[] | { [key: string]: Json | undefined };

/** A stored document. */
export interface Doc {
  id: string;
}

/** Valid field path: `claim.expires_at`. Never `__proto__` or `$x`. */
export const FIELD_PATH_PATTERN = /^[a-z][a-z0-9_]*(\.[a-z0-9][a-z0-9_]*)*$/;

/** A scalar means equality. */
export type Condition =
  | Scalar
  | {
      /** Null matches a missing field. An empty list matches nothing. */
      in?: readonly Scalar[];
      /** `{ne: null}` means present. A missing field differs from every non-null value. */
      ne?: Scalar;
      gt?: string | number;
      gte?: string | number;
      lt?: string | number;
      lte?: string | number;
      /** True for present and not null, false for missing or null. */
      exists?: boolean;
      /** Text prefix, case-sensitive. */
      prefix?: string;
      /** Case-sensitive; of several, all. For case-insensitive search, store a folded field. */
      contains?: string | readonly string[];
      has?: Scalar;
      /** Any of several array elements. */
      has_any?: readonly Scalar[];
    };

/** All conditions must match; `or` (one level) when any of its filters does. */
export type Filter = { [path: string]: Condition | readonly Filter[] | undefined; or?: readonly Filter[] };

/**
 * An update; paths as in filters, not nested in one another and not `id` (TypeError). `inc`, `min`,
 * `push` and `pull` require their kind of value or a missing field, never null, which MongoDB
 * rejects or ignores.
 */
export interface Update {
  set?: { [path: string]: Json | undefined };
  unset?: readonly string[];
  inc?: { [path: string]: number };
  /** Writes if greater (text by code point) or missing. */
  max?: { [path: string]: string | number };
  min?: { [path: string]: string | number };
  setOnInsert?: { [path: string]: Json | undefined };
  /** Keeps the last `keep` elements. */
  push?: { [path: string]: { each: readonly Json[]; keep?: number } };
  /** Removes elements whose `field` (or which themselves) equals one of `in`. */
  pull?: { [path: string]: { field?: string; in: readonly Scalar[] } };
}

export type SortOrder = 'asc' | 'desc';
/** The adapter appends `id` in the last key's direction, for a total order. */
export type Sort = readonly (readonly [path: string, order: SortOrder])[];

export interface FindQuery {
  filter?: Filter;
  sort?: Sort;
  /** 1 to 1,000; default 50. */
  limit?: number;
  /** `next` of a page with the same sort, otherwise `InvalidCursor`. */
  after?: string | null;
  /**
   * Skips damaged documents and reports each, for lists and bulk work. Absent: the page fails, so
   * that a damaged document is not mistaken for a missing one.
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
  /** Creates the document when none matches; the filter must specify `id` by equality. */
  upsert?: boolean;
}

export interface ChangeResult<T> {
  doc: T;
  created: boolean;
}

/** `put` replaces or inserts. `change` writes at most one document, `remove` every match. */
export type WriteOp<T extends Doc> =
  { insert: T } | { put: T } | { change: Filter; update: Update; upsert?: boolean } | { remove: Filter };

/** Documents written, or the conflict of that operation alone. */
export type WriteResult = { n: number } | { conflict: string };

export interface Collection<T extends Doc> {
  get(id: string): Promise<T | null>;
  find(query?: FindQuery): Promise<Page<T>>;
  count(filter?: Filter): Promise<number>;
  groupCount(path: string, filter?: Filter): Promise<{ key: Scalar; n: number }[]>;
  /** @throws StoreConflict naming the index (`id` for the primary key) */
  insert(doc: T): Promise<void>;
  /**
   * Changes one document atomically; null when none matched.
   * @throws StoreConflict
   */
  change(filter: Filter, update: Update, options?: ChangeOptions): Promise<ChangeResult<T> | null>;
  /** Not atomic as a whole; returns the number changed. */
  changeMany(filter: Filter, update: Update, limit?: number): Promise<number>;
  remove(filter: Filter, limit?: number): Promise<number>;
  /** Unordered, independent operations in one round trip. */
  bulk(ops: readonly WriteOp<T>[]): Promise<WriteResult[]>;
}

/**
 * An index. `unique` has exactly one field and is sparse; use a computed key for several. Its
 * values are text, numbers or missing; null is a TypeError, because sparse MongoDB indexes include
 * it.
 */
export interface IndexSpec {
  fields: readonly string[];
  unique?: boolean;
}

export interface CollectionSpec {
  name: string;
  indexes: readonly IndexSpec[];
  /**
   * For selective lookups in any sort order: equality, `in` and ranges of scalars, `has` and
   * `has_any` of arrays.
   */
  values?: readonly string[];
  /**
   * For `contains` from three characters; shorter ones scan. Written only by inserts and by `set`
   * or `unset` of exactly that path.
   */
  search?: readonly string[];
  /** Large, rarely read fields; not usable in indexes, filters and sorts. */
  compressed?: readonly string[];
  /** Optional top-level Uint8Array field. */
  bytes?: string;
}

export type TransactionWrite =
  | { collection: string; insert: Doc }
  | { collection: string; put: Doc }
  | (ChangeOptions & {
      collection: string;
      change: Filter;
      update: Update;
      answer?: boolean;
    });

/**
 * Executes writes of several collections in order, all or none. Null when an insert conflicts or a
 * change without `upsert` matches nothing; otherwise per write the document after a change with
 * `answer`.
 */
export type Transact = (writes: readonly TransactionWrite[]) => Promise<(Doc | null)[] | null>;

export interface DocumentStore {
  readonly engine: 'memory' | 'sqlite' | 'mongodb';
  connect(): Promise<void>;
  /** Returns a collection, which may not exist yet. Names match `^[a-z][a-z0-9_]*$`. */
  collection<T extends Doc>(name: string): Collection<T>;
  listCollections(): Promise<string[]>;
  /**
   * Creates missing collections and indexes and drops outdated ones; safe for concurrent processes.
   */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  /**
   * Null on engines without general transactions; callers need an order, marker and reconciler
   * (docs/consistency.md).
   */
  readonly transact: Transact | null;
  /** Returns the round trip in milliseconds. */
  ping(): Promise<number>;
  /**
   * Reads all stored data concurrently with other work and reports what is unreadable.
   * @throws StoreUnavailable, or the signal's reason
   */
  readonly examine?: (signal?: AbortSignal) => Promise<StoreExaminationResult>;
  /** Damage encountered since start. */
  readonly listDamage?: () => readonly CorruptDocument[];
  getSize(): Promise<number | null>;
  close(): Promise<void>;
}

/** A unique index rejected a write. */
export class StoreConflict extends Error {
  override name = 'StoreConflict';
  constructor(readonly index: string) {
    super(`a document with this ${index} exists`);
  }
}

/** The disk or its quota is full; nothing was written. HTTP 507. */
export class StoreFull extends Error {
  override name = 'StoreFull';
  constructor(options?: ErrorOptions) {
    super('the store has no space left', options);
  }
}

/** The store is unreachable or temporarily not writable. HTTP 503. */
export class StoreUnavailable extends Error {
  override name = 'StoreUnavailable';
  constructor(options?: ErrorOptions, reason = 'the store is unreachable') {
    super(reason, options);
  }
}

/** A cursor that does not belong to this sort. HTTP 400 `invalid_cursor`. */
export class InvalidCursor extends Error {
  override name = 'InvalidCursor';
  constructor() {
    super('the cursor does not belong to this list');
  }
}
