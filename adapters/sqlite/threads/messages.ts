/**
 * What the main thread and the workers say to each other. Arguments and documents travel as JSON text: cheaper than a
 * structured clone of objects, and a body goes to the file and back without being parsed on the way.
 */
import {
  StoreConflict,
  StoreDamaged,
  StoreFull,
  StoreUnavailable,
  type ChangeOptions,
  type DamagedPlace,
  type Doc,
  type Filter,
  type Scalar,
  type Sort,
  type TransactionWrite,
  type Update,
} from '../../../ports/store.js';
import { DamagedText, isMalformed } from '../driver/damage.js';
import { isCorrupt, isFull, unavailableBecause } from '../driver/driver.js';
import type { DocText } from '../body/stored-body.js';

export type WriteKind =
  'insert' | 'put' | 'change' | 'touch' | 'changeIds' | 'remove' | 'removeIds' | 'ensure' | 'ping' | 'transact';
export type ReadKind = 'get' | 'whole' | 'find' | 'ids' | 'salvage' | 'count' | 'groupCount' | 'examine';

/**
 * `examine`: one step; null, until it answers what was found.
 *
 * `text` is the JSON of the arguments below; `docs` are the documents of `insert` and `put`, also within a transaction,
 * in order.
 */
export type WriteRequest = readonly [kind: WriteKind, collection: string, text: string, docs?: readonly DocText[]];
export type ReadRequest = readonly [kind: ReadKind, collection: string, text: string];
export type Request = WriteRequest | ReadRequest;

/** `change` answers with the document; `touch` (a bulk's change) only whether there was one. */
export interface ChangeRequest extends ChangeOptions {
  filter: Filter;
  update: Update;
}

/**
 * Of `transact`; its collection is all of them, with blanks between. Bodies are answered where they are asked for.
 * `insert`, `put`: the next one of `docs`.
 */
export type TransactRequest = readonly (
  | { collection: string; insert: true }
  | { collection: string; put: true }
  | Exclude<TransactionWrite, { insert: Doc } | { put: Doc }>
)[];

export interface IdsRequest {
  ids: readonly string[];
  filter: Filter;
  update?: Update;
}

export interface FindRequest {
  filter: Filter;
  sort: Sort;
  /** How many rows at the most. */
  rows: number;
  /** Sort values of the row after which the page begins. */
  after: readonly Scalar[] | null;
}

/** A document's body, and what its bytes field holds. */
export type StoredWhole = readonly [body: string, bytes: Uint8Array | null];

export interface GroupRequest {
  path: string;
  filter: Filter;
}

/** The collections that a request concerns. */
export const collectionsOf = ([, collection]: Request): readonly string[] =>
  collection.includes(' ') ? collection.split(' ') : [collection];

/** One per request, in order. */
export type Outcome =
  | { value: unknown }
  | { conflict: string }
  | { damaged: DamagedPlace; error: string }
  | { error: string; name: string };

/** @param collection what the request was about @param id of the document that it was about */
export function outcomeOf(error: unknown, collection: string | null = null, id: string | null = null): Outcome {
  if (error instanceof StoreConflict) return { conflict: error.index };
  if (isFull(error)) return { error: String(error), name: 'StoreFull' };
  if (error instanceof DamagedText) return { damaged: { collection, id: id ?? error.id }, error: error.message };
  if (isMalformed(error)) return { damaged: { collection, id }, error: String(error) };
  if (isCorrupt(error)) return { damaged: { collection: null, id: null }, error: String(error) };
  const reason = unavailableBecause(error);
  if (reason !== undefined) return { error: `the store takes no calls: ${reason}`, name: 'StoreUnavailable' };
  if (error instanceof Error) return { error: error.message, name: error.name };
  return { error: String(error), name: 'Error' };
}

const ERRORS: Record<string, new (message: string) => Error> = { TypeError, RangeError };

/** The value, or the error again, as an error of this thread. */
export function unwrap(outcome: Outcome): unknown {
  if ('value' in outcome) return outcome.value;
  if ('conflict' in outcome) throw new StoreConflict(outcome.conflict);
  if ('damaged' in outcome) throw new StoreDamaged(outcome.damaged, { cause: outcome.error });
  if (outcome.name === 'StoreFull') throw new StoreFull({ cause: outcome.error });
  if (outcome.name === 'StoreUnavailable') throw new StoreUnavailable({}, outcome.error);
  throw new (ERRORS[outcome.name] ?? Error)(outcome.error);
}
