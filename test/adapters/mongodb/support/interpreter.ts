/**
 * MongoDB's own semantics for the few operators that the adapter emits, written from MongoDB's
 * manual and not from our reference: so that a translation can be checked against documents where
 * no server is.
 */
import type { MongoQuery, MongoDoc } from '../../../../adapters/mongodb/translate.js';

type Value = unknown;
type Tree = { [key: string]: Value };

const isTree = (value: Value): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

function at(doc: Tree, path: string): Value {
  return path.split('.').reduce<Value>((value, key) => (isTree(value) ? value[key] : undefined), doc);
}

/**
 * Equality of a field: null also stands for missing, and an array equals what one of its elements
 * equals.
 */
function equal(value: Value, operand: Value): boolean {
  if (operand === null) return value === null || value === undefined;
  return value === operand || (Array.isArray(value) && value.includes(operand));
}

/** By type bracketing: nothing of another type compares. */
function compare(value: Value, operand: Value): number {
  if (typeof value !== typeof operand) return Number.NaN;
  if (typeof value === 'number') return value - (operand as number);
  return typeof value === 'string' ? Buffer.compare(Buffer.from(value), Buffer.from(operand as string)) : Number.NaN;
}

const OPERATORS: { [name: string]: (value: Value, operand: Value) => boolean } = {
  $eq: equal,
  $ne: (value, operand) => !equal(value, operand),
  $in: (value, list) => (list as Value[]).some((operand) => equal(value, operand)),
  $gt: (value, operand) => compare(value, operand) > 0,
  $gte: (value, operand) => compare(value, operand) >= 0,
  $lt: (value, operand) => compare(value, operand) < 0,
  $lte: (value, operand) => compare(value, operand) <= 0,
  $regex: (value, pattern) => typeof value === 'string' && new RegExp(pattern as string).test(value),
  $elemMatch: (value, query) => Array.isArray(value) && value.some((element) => all(element, query as Tree)),
};

function all(value: Value, operators: Tree): boolean {
  return Object.entries(operators).every(([name, operand]) => {
    const operator = OPERATORS[name];
    if (!operator) throw new Error(`the adapter emitted ${name}`);
    return operator(value, operand);
  });
}

export function holds(query: MongoQuery, doc: MongoDoc): boolean {
  return Object.entries(query).every(([key, operand]) => {
    if (key === '$and') return (operand as MongoQuery[]).every((one) => holds(one, doc));
    if (key === '$or') return (operand as MongoQuery[]).some((one) => holds(one, doc));
    return all(at(doc, key), operand as Tree);
  });
}

const UPDATES: { [name: string]: (value: Value, operand: Value) => Value } = {
  $set: (_, operand) => operand,
  $unset: () => undefined,
  $inc: (value, by) => ((value as number | undefined) ?? 0) + (by as number),
  $max: (value, operand) => (value === undefined || value === null || compare(operand, value) > 0 ? operand : value),
  $min: (value, operand) => (value === undefined || compare(operand, value) < 0 ? operand : value),
  $push(value, operand) {
    const { $each, $slice } = operand as { $each: Value[]; $slice?: number };
    const list = [...((value as Value[] | undefined) ?? []), ...$each];
    if ($slice === undefined) return list;
    return $slice === 0 ? [] : list.slice($slice);
  },
  $pull: (value, operand) =>
    value === undefined ? undefined : (value as Value[]).filter((element) => !all(element, operand as Tree)),
};

/** `doc` after the update; the fields that the adapter's tests name. */
export function applyMongoUpdate(doc: MongoDoc, update: MongoQuery): MongoDoc {
  const result = structuredClone(doc);
  for (const [name, fields] of Object.entries(update)) {
    const apply = UPDATES[name];
    if (!apply) throw new Error(`the adapter emitted ${name}`);
    for (const [path, operand] of Object.entries(fields as Tree)) put(result, path, apply(at(result, path), operand));
  }
  return result;
}

function put(doc: Tree, path: string, value: Value): void {
  const [key = '', ...rest] = path.split('.');
  if (rest.length > 0) {
    if (value === undefined && !isTree(doc[key])) return;
    doc[key] ??= {};
    put(doc[key] as Tree, rest.join('.'), value);
  } else if (value === undefined) delete doc[key];
  else doc[key] = value;
}
