/**
 * Arguments and documents are JSON text: less expensive than structured clones, and bodies are
 * stored without parsing.
 */
import {
  StoreConflict,
  StoreDamaged,
  StoreFull,
  StoreUnavailable,
  type ChangeOptions,
  type DamageLocation,
  type Doc,
  type Filter,
  type Scalar,
  type Sort,
  type TransactionWrite,
  type Update,
} from '../../../ports/store/index.js';
import { DamagedTextError, isMalformedJsonError } from '../driver/damage.js';
import { isCorruptionError, isDiskFullError, getUnavailableReason } from '../driver/driver.js';
import type { EncodedDoc } from '../stored-body.js';

export type WriteKind =
  'insert' | 'put' | 'change' | 'touch' | 'changeIds' | 'remove' | 'removeIds' | 'ensure' | 'ping' | 'transact';
export type ReadKind = 'get' | 'whole' | 'find' | 'ids' | 'salvage' | 'count' | 'groupCount' | 'examine';

/**
 * `text` is the JSON of the arguments. `docs` are the documents of `insert` and `put`, in order.
 * `examine` performs one step and answers null until it is complete.
 */
export type WriteRequest = readonly [kind: WriteKind, collection: string, text: string, docs?: readonly EncodedDoc[]];
export type ReadRequest = readonly [kind: ReadKind, collection: string, text: string];
export type StorageRequest = WriteRequest | ReadRequest;

/** `change` answers with the document; `touch` (a change in a bulk) only whether it existed. */
export interface ChangeRequest extends ChangeOptions {
  filter: Filter;
  update: Update;
}

/**
 * Requests of `transact`, whose collection field lists all collections, separated by blanks.
 * `insert` and `put` take the next entry of `docs`.
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
  rows: number;
  after: readonly Scalar[] | null;
}

export type WholeDoc = readonly [body: string, bytes: Uint8Array | null];

export interface GroupRequest {
  path: string;
  filter: Filter;
}

export const listCollections = ([, collection]: StorageRequest): readonly string[] =>
  collection.includes(' ') ? collection.split(' ') : [collection];

export type RequestOutcome =
  | { value: unknown }
  | { conflict: string }
  | { damaged: DamageLocation; error: string }
  | { error: string; name: string };

/**
 * @param collection of the request
 * @param id of the requested document
 */
export function toOutcome(error: unknown, collection: string | null = null, id: string | null = null): RequestOutcome {
  if (error instanceof StoreConflict) return { conflict: error.index };
  if (isDiskFullError(error)) return { error: String(error), name: 'StoreFull' };
  if (error instanceof DamagedTextError) return { damaged: { collection, id: id ?? error.id }, error: error.message };
  if (isMalformedJsonError(error)) return { damaged: { collection, id }, error: String(error) };
  if (isCorruptionError(error)) return { damaged: { collection: null, id: null }, error: String(error) };
  const reason = getUnavailableReason(error);
  if (reason !== undefined) return { error: `the store does not accept calls: ${reason}`, name: 'StoreUnavailable' };
  if (error instanceof Error) return { error: error.message, name: error.name };
  return { error: String(error), name: 'Error' };
}

const ERROR_CLASSES: Record<string, new (message: string) => Error> = { TypeError, RangeError };

export function unwrapOutcome(outcome: RequestOutcome): unknown {
  if ('value' in outcome) return outcome.value;
  if ('conflict' in outcome) throw new StoreConflict(outcome.conflict);
  if ('damaged' in outcome) throw new StoreDamaged(outcome.damaged, { cause: outcome.error });
  if (outcome.name === 'StoreFull') throw new StoreFull({ cause: outcome.error });
  if (outcome.name === 'StoreUnavailable') throw new StoreUnavailable({}, outcome.error);
  throw new (ERROR_CLASSES[outcome.name] ?? Error)(outcome.error);
}
