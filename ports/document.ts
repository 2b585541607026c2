/** Reference semantics of DocumentStore's filters, updates and order. */
import {
  FIELD_PATH_PATTERN,
  type Condition,
  type Doc,
  type Filter,
  type Json,
  type Scalar,
  type Sort,
  type Update,
} from './store/index.js';

type Operators = Exclude<Condition, Scalar>;
type Tree = { [key: string]: Json | undefined };

/** Returns a valid field path. @throws TypeError otherwise, a programming error */
export function checkPath(path: string): string {
  if (!FIELD_PATH_PATTERN.test(path)) throw new TypeError(`not a field path: ${JSON.stringify(path)}`);
  return path;
}

/** Returns the value at `path`; null when missing. */
export function getPathValue(doc: object, path: string): Json {
  if (!path.includes('.')) return Object.hasOwn(doc, path) ? ((doc as Tree)[path] ?? null) : null;
  let at: Json | undefined = doc as Tree;
  for (const key of path.split('.')) {
    if (at === null || typeof at !== 'object' || Array.isArray(at)) return null;
    at = Object.hasOwn(at, key) ? at[key] : undefined;
    if (at === undefined) return null;
  }
  return at;
}

/** Compares text by code point (UTF-8 byte order); JavaScript's `<` compares UTF-16 units. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // Surrogates encode code points above U+FFFF.
    if (x >= 0xd800 && x <= 0xdfff) x += 0x10000;
    if (y >= 0xd800 && y <= 0xdfff) y += 0x10000;
    return x - y;
  }
  return a.length - b.length;
}

function getTypeRank(value: Json): number {
  if (value === null) return 0;
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') return 2;
  return typeof value === 'boolean' ? 4 : 3;
}

/** Compares two values for sorting. */
export function compareValues(a: Json, b: Json): number {
  const difference = getTypeRank(a) - getTypeRank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'number') return a - (b as number);
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  return 0;
}

/**
 * Appends `id` in the last key's direction, which makes the order total. Drops keys after `id`.
 * @throws TypeError for an invalid path
 */
export function toTotalSort(sort: Sort = []): Sort {
  for (const [path] of sort) checkPath(path);
  const id = sort.findIndex(([path]) => path === 'id');
  return id >= 0 ? sort.slice(0, id + 1) : [...sort, ['id', sort.at(-1)?.[1] ?? 'asc']];
}

export function compareDocs(sort: Sort): (a: Doc, b: Doc) => number {
  return (a, b) => {
    for (const [path, order] of sort) {
      const c = compareValues(getPathValue(a, path), getPathValue(b, path));
      if (c !== 0) return order === 'asc' ? c : -c;
    }
    return 0;
  };
}

function isSameType(value: Json, operand: string | number): value is string | number {
  return typeof value === typeof operand;
}

function matchesCondition(value: Json, condition: Condition): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition;
  const c: Operators = condition;
  if (c.in !== undefined && !c.in.includes(value as Scalar)) return false;
  if (c.ne !== undefined && value === c.ne) return false;
  if (c.gt !== undefined && !(isSameType(value, c.gt) && compareValues(value, c.gt) > 0)) return false;
  if (c.gte !== undefined && !(isSameType(value, c.gte) && compareValues(value, c.gte) >= 0)) return false;
  if (c.lt !== undefined && !(isSameType(value, c.lt) && compareValues(value, c.lt) < 0)) return false;
  if (c.lte !== undefined && !(isSameType(value, c.lte) && compareValues(value, c.lte) <= 0)) return false;
  if (c.exists !== undefined && (value !== null) !== c.exists) return false;
  if (c.prefix !== undefined && !(typeof value === 'string' && value.startsWith(c.prefix))) return false;
  if (
    c.contains !== undefined &&
    !(typeof value === 'string' && [c.contains].flat().every((part) => value.includes(part)))
  )
    return false;
  if (c.has !== undefined && !(Array.isArray(value) && value.includes(c.has))) return false;
  const any = c.has_any;
  if (any !== undefined && !(Array.isArray(value) && value.some((v) => any.includes(v as Scalar)))) return false;
  return true;
}

/**
 * Returns the filters of an `or`; an empty list matches nothing.
 * @throws TypeError when it is not a list or contains another `or`
 */
export function getOrFilters(or: Filter[string]): readonly Filter[] {
  if (!Array.isArray(or)) throw new TypeError('or must be a list of filters');
  for (const filter of or as readonly Filter[])
    if (filter.or !== undefined) throw new TypeError('or must not be nested in or');
  return or as readonly Filter[];
}

export function matchesFilter(doc: Doc, filter: Filter = {}): boolean {
  for (const [path, condition] of Object.entries(filter)) {
    if (condition === undefined) continue;
    if (path === 'or') {
      if (!getOrFilters(condition).some((f) => matchesFilter(doc, f))) return false;
    } else if (!matchesCondition(getPathValue(doc, checkPath(path)), condition as Condition)) return false;
  }
  return true;
}

/** @throws TypeError when a parent is not an object (null included, as in MongoDB) */
function writeValue(doc: Tree, path: string, value: Json): void {
  const keys = checkPath(path).split('.');
  const last = keys.pop() as string;
  let at = doc;
  for (const key of keys) {
    const next = Object.hasOwn(at, key) ? at[key] : undefined;
    if (next === undefined) at = at[key] = {};
    else if (next === null || typeof next !== 'object' || Array.isArray(next)) {
      throw new TypeError(`${path}: ${key} must be an object`);
    } else at = next;
  }
  at[last] = value;
}

function deleteValue(doc: Tree, path: string): void {
  const dot = checkPath(path).lastIndexOf('.');
  const last = path.slice(dot + 1);
  const at = dot < 0 ? doc : getPathValue(doc, path.slice(0, dot));
  if (at !== null && typeof at === 'object' && !Array.isArray(at)) delete at[last];
}

/** @throws TypeError when the operator does not apply */
function getOperand<V extends Json>(
  doc: Tree,
  path: string,
  fits: (value: Json) => value is V,
  what: string,
): V | undefined {
  const dot = checkPath(path).lastIndexOf('.');
  const last = path.slice(dot + 1);
  const at = dot < 0 ? doc : getPathValue(doc, path.slice(0, dot));
  const now = at !== null && typeof at === 'object' && Object.hasOwn(at, last) ? (at as Tree)[last] : undefined;
  if (now === undefined || fits(now)) return now;
  throw new TypeError(`${path} is ${now === null ? 'null' : 'another kind of value'}, not ${what}`);
}

const isNumber = (value: Json): value is number => typeof value === 'number';
const isArray = (value: Json): value is Json[] => Array.isArray(value);
const isComparable = (value: Json): value is string | number => typeof value === 'number' || typeof value === 'string';
const isComparableOrNull = (value: Json): value is string | number | null => value === null || isComparable(value);

/**
 * Returns the unique index value of `doc`; undefined when missing.
 * @throws TypeError for null and other unsupported values
 */
export function getUniqueValue(doc: Doc, path: string): string | number | undefined {
  return getOperand(doc as unknown as Tree, path, isComparable, 'text or a number');
}

/**
 * Applies `update` (see `toPlainUpdate`) to `doc` in place and returns it. Neither may be shared.
 * @throws TypeError when a field does not fit the operator; the document must not be stored then
 */
export function applyUpdate<T extends Doc>(doc: T, update: Update, created = false): T {
  const tree = doc as unknown as Tree;
  if (created) for (const path in update.setOnInsert) writeValue(tree, path, update.setOnInsert[path] as Json);
  for (const path in update.set) writeValue(tree, path, update.set[path] as Json);
  if (update.unset) for (const path of update.unset) deleteValue(tree, path);
  for (const path in update.inc) {
    writeValue(tree, path, (getOperand(tree, path, isNumber, 'a number') ?? 0) + (update.inc[path] as number));
  }
  for (const path in update.max) {
    const value = update.max[path] as string | number;
    const now = getOperand(tree, path, isComparableOrNull, 'text or a number') ?? null;
    if (compareValues(value, now) > 0) writeValue(tree, path, value);
  }
  for (const path in update.min) {
    const value = update.min[path] as string | number;
    const now = getOperand(tree, path, isComparable, 'text or a number');
    if (now === undefined || compareValues(value, now) < 0) writeValue(tree, path, value);
  }
  for (const path in update.push) {
    const { each, keep } = update.push[path] as NonNullable<Update['push']>[string];
    const all = [...(getOperand(tree, path, isArray, 'an array') ?? []), ...each];
    writeValue(tree, path, keep === undefined ? all : all.slice(Math.max(0, all.length - keep)));
  }
  for (const path in update.pull) {
    const { field, in: gone } = update.pull[path] as NonNullable<Update['pull']>[string];
    const now = getOperand(tree, path, isArray, 'an array');
    if (now)
      writeValue(
        tree,
        path,
        now.filter((element) => !isPulled(element, field, gone)),
      );
  }
  return doc;
}

function isPulled(element: Json, field: string | undefined, gone: readonly Scalar[]): boolean {
  if (field === undefined) return gone.includes(element as Scalar);
  if (element === null || typeof element !== 'object' || Array.isArray(element)) return false;
  return gone.includes(getPathValue(element, checkPath(field)) as Scalar);
}

/**
 * Returns the update as adapters run it: undefined values become `unset` in `set` and are dropped
 * in `setOnInsert`.
 * @throws TypeError for an invalid path, `id`, or nested paths (as MongoDB)
 */
export function toPlainUpdate(update: Update): Update {
  const plain = { ...update };
  if (update.set) plain.set = omitUndefined(update.set);
  if (update.setOnInsert) plain.setOnInsert = omitUndefined(update.setOnInsert);
  for (const path in update.set) {
    if (update.set[path] === undefined) plain.unset = [...(plain.unset ?? []), path];
  }
  checkPaths(plain);
  return plain;
}

function omitUndefined<V>(fields: { [path: string]: V | undefined }): { [path: string]: V } {
  const isDefined = (entry: [string, V | undefined]): entry is [string, V] => entry[1] !== undefined;
  for (const path in fields)
    if (fields[path] === undefined) return Object.fromEntries(Object.entries(fields).filter(isDefined));
  return fields as { [path: string]: V };
}

function checkPaths(update: Update): void {
  const paths = new Set<string>();
  const add = (path: string): void => {
    checkPath(path);
    if (path === 'id') throw new TypeError('an update cannot write the id');
    if (paths.has(path)) throw new TypeError(`one update writes both ${path} and ${path}`);
    paths.add(path);
  };
  const { unset, ...fields } = update;
  unset?.forEach(add);
  for (const operator in fields) for (const path in fields[operator as keyof typeof fields]) add(path);
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot > 0; dot = path.indexOf('.', dot + 1)) {
      const outer = path.slice(0, dot);
      if (paths.has(outer)) throw new TypeError(`one update writes both ${outer} and ${path}`);
    }
  }
}

/** Builds the document that an upsert creates. */
export function buildSeed(filter: Filter): Doc {
  const seed: Tree = {};
  for (const [path, condition] of Object.entries(filter)) {
    if (path === 'or' || condition === undefined || condition === null || typeof condition === 'object') continue;
    writeValue(seed, path, condition);
  }
  if (typeof seed['id'] !== 'string') throw new TypeError('an upsert names the id by equality');
  return seed as unknown as Doc;
}

/** Separates the bytes field. @throws TypeError when it holds something else */
export function splitBytes<T extends Doc>(
  doc: T,
  field: string | undefined,
): { doc: T; bytes: Uint8Array | undefined } {
  if (field === undefined || !Object.hasOwn(doc, field)) return { doc, bytes: undefined };
  const { [field]: bytes, ...rest } = doc as unknown as { [field: string]: unknown };
  if (bytes !== undefined && !(bytes instanceof Uint8Array)) throw new TypeError(`${field} does not contain bytes`);
  return { doc: rest as unknown as T, bytes };
}

/** Reverses `splitBytes`. */
export const attachBytes = <T extends Doc>(
  doc: T,
  field: string | undefined,
  bytes: Uint8Array | null | undefined,
): T => (field === undefined || bytes === null || bytes === undefined ? doc : { ...doc, [field]: bytes });

/** A lone surrogate as JSON.stringify escapes it. */
const LONE_SURROGATE_PATTERN = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Formats a value for storage: undefined fields omitted, lone surrogates replaced by U+FFFD. */
export function stringifyJson(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes('\\ud') ? text.replace(LONE_SURROGATE_PATTERN, '$1\\ufffd') : text;
}
