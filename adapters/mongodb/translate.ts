/**
 * Translates filters, sorts, updates and documents for MongoDB. Uses only the portable subset of
 * operators (docs/consistency.md), which works on MongoDB 5 to 8 and compatible servers.
 */
import { Binary } from 'mongodb';
import { listOrFilters, checkPath, stringifyJson, splitBytes, toTotalSort, withBytes } from '../../ports/document.js';
import type { Condition, Doc, Filter, Json, Scalar, Sort, Update } from '../../ports/store.js';
import { trigramFields, trigramUpdates, trigramField, HIDDEN } from './trigrams.js';
import { decodeKeys, encodeKeys } from './keys.js';

type Operators = Exclude<Condition, Scalar>;
export type Query = { [key: string]: unknown };
/** A stored document: `_id` instead of `id`, keys encoded. */
export type Stored = { _id: string; [key: string]: unknown };

const NEVER: Query = { _id: { $in: [] } };

/**
 * Returns the field's name, with `_id` for `id`.
 * @throws TypeError on an invalid path
 */
export function fieldName(path: string): string {
  return checkPath(path) === 'id' ? '_id' : path;
}

export function toQuery(...filters: readonly Filter[]): Query {
  const terms = filters.flatMap((filter) =>
    Object.entries(clean(filter)).flatMap(([path, condition]) => termsOf(path, condition)),
  );
  if (terms.length <= 1) return terms[0] ?? {};
  return { $and: terms };
}

export const isNever = (query: Query): boolean => {
  const terms = (query['$and'] ?? [query]) as readonly Query[];
  return terms.some((term) => term === NEVER || isEmptyIn(Object.values(term)[0]));
};

const isEmptyIn = (condition: unknown): boolean => {
  const values = (condition as { $in?: unknown } | null | undefined)?.$in;
  return Array.isArray(values) && values.length === 0;
};

function termsOf(path: string, condition: Filter[string]): Query[] {
  if (condition === undefined) return [];
  if (path === 'or') {
    const any = listOrFilters(condition).map((filter) => toQuery(filter));
    return [any.length === 0 ? NEVER : { $or: any }];
  }
  const field = fieldName(path);
  return operatorsOf(condition as Condition).map((operator) => (operator === null ? NEVER : { [field]: operator }));
}

/** One entry per operator, so that none overwrites another; null means "never". */
function operatorsOf(condition: Condition): (Query | null)[] {
  if (condition === null || typeof condition !== 'object') return [{ $eq: condition }];
  const c: Operators = condition;
  const operators: (Query | null)[] = [];
  for (const name of ['in', 'ne', 'gt', 'gte', 'lt', 'lte'] as const) {
    if (c[name] !== undefined) operators.push({ [`$${name}`]: c[name] });
  }
  // Equality with null also matches a missing field; `$exists` would distinguish them.
  if (c.exists !== undefined) operators.push(c.exists ? { $ne: null } : { $eq: null });
  // `$gte: ''` matches text only, because some servers apply patterns to numbers. Separate terms,
  // because one server ignores operators next to a pattern.
  if (c.prefix !== undefined) operators.push({ $gte: '' }, { $regex: `^${escapeRegex(c.prefix)}` });
  if (c.contains !== undefined)
    operators.push({ $gte: '' }, ...[c.contains].flat().map((part) => ({ $regex: escapeRegex(part) })));
  // `$elemMatch` matches arrays only; plain equality would also match a scalar.
  if (c.has !== undefined) operators.push({ $elemMatch: { $eq: c.has } });
  if (c.has_any !== undefined) operators.push(c.has_any.length === 0 ? null : { $elemMatch: { $in: c.has_any } });
  return operators;
}

/** Escapes text to a literal pattern. A BSON pattern cannot contain NUL, only its escape. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}/-]/g, '\\$&').replaceAll('\0', '\\x00');
}

export function toSort(sort?: Sort): [field: string, order: 1 | -1][] {
  return toTotalSort(sort).map(([path, order]) => [fieldName(path), order === 'asc' ? 1 : -1]);
}

/**
 * Translates an update without `setOnInsert`.
 * @param update from `toPlainUpdate`
 * @param texts paths with trigrams
 */
export function toUpdate(update: Update, texts: readonly string[] = []): Query {
  const grams = trigramUpdates(update, texts);
  const { set, unset, inc, max, min, push, pull } = clean(update);
  const operators: { [operator: string]: object | undefined } = {
    $set: { ...(set && (encodeKeys(set, false) as object)), ...grams },
    $unset: unset && Object.fromEntries(unset.map((path) => [path, ''])),
    $inc: inc,
    $max: max,
    $min: min,
    $push: push && mapValues(push, ({ each, keep }) => pushOf(each, keep)),
    $pull:
      pull &&
      mapValues(pull, ({ field, in: gone }) =>
        field === undefined ? { $in: gone } : { [checkPath(field)]: { $in: gone } },
      ),
  };
  return Object.fromEntries(Object.entries(operators).filter(([, fields]) => fields && Object.keys(fields).length > 0));
}

/**
 * Translates an upsert of a collection without trigrams.
 * @param update from `toPlainUpdate`
 */
export function toUpsert(update: Update): Query {
  const { setOnInsert = {} } = clean(update);
  const isEmpty = Object.keys(setOnInsert).length === 0;
  return { ...toUpdate(update), ...(!isEmpty && { $setOnInsert: encodeKeys(setOnInsert, false) }) };
}

function pushOf(each: readonly Json[], keep: number | undefined): Query {
  const $each = each.map((element) => encodeKeys(element));
  return keep === undefined ? { $each } : { $each, $slice: keep === 0 ? 0 : -keep };
}

function mapValues<V>(fields: { [path: string]: V }, map: (value: V) => Query): Query {
  return Object.fromEntries(Object.entries(fields).map(([path, value]) => [path, map(value)]));
}

function clean<V>(value: V): V {
  return JSON.parse(stringifyJson(value)) as V;
}

/** @param texts paths with trigrams */
export function toStored(doc: Doc, texts: readonly string[] = []): Stored {
  const field = Object.entries(doc).find(([, value]) => value instanceof Uint8Array)?.[0];
  const { doc: given, bytes } = splitBytes(doc, field);
  const plain = clean(given);
  const { id, ...rest } = plain;
  if (typeof id !== 'string') throw new TypeError('a document has a text id');
  const stored = { _id: id, ...(encodeKeys(rest) as object), ...trigramFields(plain, texts) };
  return field === undefined || bytes === undefined ? stored : { ...stored, [field]: new Binary(bytes) };
}

export function fromStored(stored: Stored): Doc {
  const [field, value] = Object.entries(stored).find(([, one]) => one instanceof Binary) ?? [];
  return withBytes(fromChanged(stored), field, (value as Binary | undefined)?.value());
}

export function fromChanged({ _id, ...rest }: Stored): Doc {
  for (const [field, value] of Object.entries(rest))
    if (field.startsWith(HIDDEN) || value instanceof Binary) delete rest[field];
  return { id: _id, ...(decodeKeys(rest as Json) as object) };
}

export const visible = (texts: readonly string[]): { projection?: { [field: string]: 0 } } =>
  texts.length === 0 ? {} : { projection: Object.fromEntries(texts.map((path) => [trigramField(path), 0])) };

export function conflictOf({ keyPattern, message }: { keyPattern?: object | undefined; message: string }): string {
  const field = Object.keys(keyPattern ?? {})[0] ?? /index: (?:\S+\.\$)?(\S+)/.exec(message)?.[1] ?? 'id';
  return field === '_id' || field === '_id_' ? 'id' : field;
}

const NAMED = 100;

export function namedIds({ id }: Filter): readonly string[] | null {
  if (typeof id !== 'object' || id === null || !('in' in id) || Object.keys(id).length !== 1) return null;
  const ids = [...new Set(id.in)].filter((one) => typeof one === 'string');
  return ids.length > 0 && ids.length <= NAMED ? ids : null;
}
