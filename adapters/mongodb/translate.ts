/**
 * Uses only the portable subset of operators (docs/consistency.md), which works on MongoDB 5 to 8
 * and compatible servers.
 */
import { Binary } from 'mongodb';
import { getOrFilters, checkPath, stringifyJson, splitBytes, toTotalSort, attachBytes } from '../../ports/document.js';
import type { Condition, Doc, Filter, Json, Scalar, Sort, Update } from '../../ports/store/index.js';
import { buildTrigramFields, buildTrigramUpdates, toTrigramField, HIDDEN_PREFIX } from './trigrams.js';
import { decodeKeys, encodeKeys } from './keys.js';

type Operators = Exclude<Condition, Scalar>;
export type MongoQuery = { [key: string]: unknown };
/** A stored document: `_id` instead of `id`, keys encoded. */
export type MongoDoc = { _id: string; [key: string]: unknown };

const NEVER_QUERY: MongoQuery = { _id: { $in: [] } };

/**
 * Returns the field's name, with `_id` for `id`.
 * @throws TypeError on an invalid path
 */
export function toFieldName(path: string): string {
  return checkPath(path) === 'id' ? '_id' : path;
}

export function toQuery(...filters: readonly Filter[]): MongoQuery {
  const terms = filters.flatMap((filter) =>
    Object.entries(sanitizeValue(filter)).flatMap(([path, condition]) => toQueryTerms(path, condition)),
  );
  if (terms.length <= 1) return terms[0] ?? {};
  return { $and: terms };
}

export const isNeverQuery = (query: MongoQuery): boolean => {
  const terms = (query['$and'] ?? [query]) as readonly MongoQuery[];
  return terms.some((term) => term === NEVER_QUERY || isEmptyIn(Object.values(term)[0]));
};

const isEmptyIn = (condition: unknown): boolean => {
  const values = (condition as { $in?: unknown } | null | undefined)?.$in;
  return Array.isArray(values) && values.length === 0;
};

function toQueryTerms(path: string, condition: Filter[string]): MongoQuery[] {
  if (condition === undefined) return [];
  if (path === 'or') {
    const any = getOrFilters(condition).map((filter) => toQuery(filter));
    return [any.length === 0 ? NEVER_QUERY : { $or: any }];
  }
  const field = toFieldName(path);
  return toOperators(condition as Condition).map((operator) =>
    operator === null ? NEVER_QUERY : { [field]: operator },
  );
}

/** Null means "never". */
function toOperators(condition: Condition): (MongoQuery | null)[] {
  if (condition === null || typeof condition !== 'object') return [{ $eq: condition }];
  const c: Operators = condition;
  const operators: (MongoQuery | null)[] = [];
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
  return toTotalSort(sort).map(([path, order]) => [toFieldName(path), order === 'asc' ? 1 : -1]);
}

/** Translates an update without `setOnInsert`. */
export function toUpdate(update: Update, texts: readonly string[] = []): MongoQuery {
  const grams = buildTrigramUpdates(update, texts);
  const { set, unset, inc, max, min, push, pull } = sanitizeValue(update);
  const operators: { [operator: string]: object | undefined } = {
    $set: { ...(set && (encodeKeys(set, false) as object)), ...grams },
    $unset: unset && Object.fromEntries(unset.map((path) => [path, ''])),
    $inc: inc,
    $max: max,
    $min: min,
    $push: push && mapValues(push, ({ each, keep }) => toPush(each, keep)),
    $pull:
      pull &&
      mapValues(pull, ({ field, in: gone }) =>
        field === undefined ? { $in: gone } : { [checkPath(field)]: { $in: gone } },
      ),
  };
  return Object.fromEntries(Object.entries(operators).filter(([, fields]) => fields && Object.keys(fields).length > 0));
}

/** Translates an upsert of a collection without trigrams. */
export function toUpsert(update: Update): MongoQuery {
  const { setOnInsert = {} } = sanitizeValue(update);
  const isEmpty = Object.keys(setOnInsert).length === 0;
  return { ...toUpdate(update), ...(!isEmpty && { $setOnInsert: encodeKeys(setOnInsert, false) }) };
}

function toPush(each: readonly Json[], keep: number | undefined): MongoQuery {
  const $each = each.map((element) => encodeKeys(element));
  return keep === undefined ? { $each } : { $each, $slice: keep === 0 ? 0 : -keep };
}

function mapValues<V>(fields: { [path: string]: V }, map: (value: V) => MongoQuery): MongoQuery {
  return Object.fromEntries(Object.entries(fields).map(([path, value]) => [path, map(value)]));
}

function sanitizeValue<V>(value: V): V {
  return JSON.parse(stringifyJson(value)) as V;
}

/** @param texts paths with trigrams */
export function toStored(doc: Doc, texts: readonly string[] = []): MongoDoc {
  const field = Object.entries(doc).find(([, value]) => value instanceof Uint8Array)?.[0];
  const { doc: given, bytes } = splitBytes(doc, field);
  const plain = sanitizeValue(given);
  const { id, ...rest } = plain;
  if (typeof id !== 'string') throw new TypeError('a document has a text id');
  const stored = { _id: id, ...(encodeKeys(rest) as object), ...buildTrigramFields(plain, texts) };
  return field === undefined || bytes === undefined ? stored : { ...stored, [field]: new Binary(bytes) };
}

export function fromStored(stored: MongoDoc): Doc {
  const [field, value] = Object.entries(stored).find(([, one]) => one instanceof Binary) ?? [];
  return attachBytes(fromChanged(stored), field, (value as Binary | undefined)?.value());
}

export function fromChanged({ _id, ...rest }: MongoDoc): Doc {
  for (const [field, value] of Object.entries(rest))
    if (field.startsWith(HIDDEN_PREFIX) || value instanceof Binary) delete rest[field];
  return { id: _id, ...(decodeKeys(rest as Json) as object) };
}

export const buildProjection = (texts: readonly string[]): { projection?: { [field: string]: 0 } } =>
  texts.length === 0 ? {} : { projection: Object.fromEntries(texts.map((path) => [toTrigramField(path), 0])) };

export function getConflictIndex({
  keyPattern,
  message,
}: {
  keyPattern?: object | undefined;
  message: string;
}): string {
  const field = Object.keys(keyPattern ?? {})[0] ?? /index: (?:\S+\.\$)?(\S+)/.exec(message)?.[1] ?? 'id';
  return field === '_id' || field === '_id_' ? 'id' : field;
}

const MAX_NAMED_IDS = 100;

export function getNamedIds({ id }: Filter): readonly string[] | null {
  if (typeof id !== 'object' || id === null || !('in' in id) || Object.keys(id).length !== 1) return null;
  const ids = [...new Set(id.in)].filter((one) => typeof one === 'string');
  return ids.length > 0 && ids.length <= MAX_NAMED_IDS ? ids : null;
}
