/**
 * The meaning of DocumentStore's filters, updates and order, as pure functions. The memory and SQLite adapters run them;
 * the MongoDB adapter's translation is tested against them. Rejected: letting every adapter define its own edges.
 */
import { PATH, type Condition, type Doc, type Filter, type Json, type Scalar, type Sort, type Update } from './store.js';

type Operators = Exclude<Condition, Scalar>;
type Tree = { [key: string]: Json | undefined };

/** @throws TypeError on a path that is not a plain field path: a programming error, never a user's. */
export function checkPath(path: string): string {
  if (!PATH.test(path)) throw new TypeError(`not a field path: ${JSON.stringify(path)}`);
  return path;
}

/** The value at `path`, with missing as null. */
export function valueAt(doc: object, path: string): Json {
  let at: Json | undefined = doc as Tree;
  for (const key of path.split('.')) {
    if (at === null || typeof at !== 'object' || Array.isArray(at)) return null;
    at = Object.hasOwn(at, key) ? at[key] : undefined;
    if (at === undefined) return null;
  }
  return at;
}

/** Order of text by code point (UTF-8 byte order), which JavaScript's `<` is not beyond U+FFFF. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    // A surrogate stands for a code point above U+FFFF, so it sorts above every other unit.
    if (x >= 0xd800 && x <= 0xdfff) x += 0x10000;
    if (y >= 0xd800 && y <= 0xdfff) y += 0x10000;
    return x - y;
  }
  return a.length - b.length;
}

/** null < numbers < text < everything else (objects, arrays, booleans: equal among themselves by kind). */
function rank(value: Json): number {
  if (value === null) return 0;
  if (typeof value === 'number') return 1;
  if (typeof value === 'string') return 2;
  return typeof value === 'boolean' ? 4 : 3;
}

/** Order of two values in a sort. */
export function compareValues(a: Json, b: Json): number {
  const difference = rank(a) - rank(b);
  if (difference !== 0) return difference;
  if (typeof a === 'number') return a - (b as number);
  if (typeof a === 'string') return compareText(a, b as string);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  return 0;
}

/** `sort` with `id` appended in the last key's direction: a total order. */
export function totalSort(sort: Sort = []): Sort {
  if (sort.some(([path]) => path === 'id')) return sort;
  return [...sort, ['id', sort.at(-1)?.[1] ?? 'asc']];
}

export function compareDocs(sort: Sort): (a: Doc, b: Doc) => number {
  return (a, b) => {
    for (const [path, order] of sort) {
      const c = compareValues(valueAt(a, path), valueAt(b, path));
      if (c !== 0) return order === 'asc' ? c : -c;
    }
    return 0;
  };
}

function sameType(value: Json, operand: string | number): value is string | number {
  return typeof value === typeof operand;
}

function holds(value: Json, condition: Condition): boolean {
  if (condition === null || typeof condition !== 'object') return value === condition;
  const c: Operators = condition;
  if (c.in !== undefined && !c.in.includes(value as Scalar)) return false;
  if (c.ne !== undefined && value === c.ne) return false;
  if (c.gt !== undefined && !(sameType(value, c.gt) && compareValues(value, c.gt) > 0)) return false;
  if (c.gte !== undefined && !(sameType(value, c.gte) && compareValues(value, c.gte) >= 0)) return false;
  if (c.lt !== undefined && !(sameType(value, c.lt) && compareValues(value, c.lt) < 0)) return false;
  if (c.lte !== undefined && !(sameType(value, c.lte) && compareValues(value, c.lte) <= 0)) return false;
  if (c.exists !== undefined && (value !== null) !== c.exists) return false;
  if (c.prefix !== undefined && !(typeof value === 'string' && value.startsWith(c.prefix))) return false;
  if (c.contains !== undefined && !(typeof value === 'string' && value.includes(c.contains))) return false;
  if (c.has !== undefined && !(Array.isArray(value) && value.includes(c.has))) return false;
  const any = c.has_any;
  if (any !== undefined && !(Array.isArray(value) && value.some((v) => any.includes(v as Scalar)))) return false;
  return true;
}

export function matches(doc: Doc, filter: Filter = {}): boolean {
  for (const [path, condition] of Object.entries(filter)) {
    if (condition === undefined) continue;
    if (path === 'or') {
      if (!(condition as readonly Filter[]).some((f) => matches(doc, f))) return false;
    } else if (!holds(valueAt(doc, checkPath(path)), condition as Condition)) return false;
  }
  return true;
}

/** The object that holds the last segment of `path`, created on the way. A scalar in the way is replaced. */
function parent(doc: Tree, path: string): [Tree, string] {
  const keys = checkPath(path).split('.');
  const last = keys.pop() as string;
  let at = doc;
  for (const key of keys) {
    const next = at[key];
    if (next === null || typeof next !== 'object' || Array.isArray(next)) at[key] = {};
    at = at[key] as Tree;
  }
  return [at, last];
}

/** Applies `update` to `doc` in place and returns it. `doc` must be the caller's own copy. */
export function applyUpdate<T extends Doc>(doc: T, update: Update, created = false): T {
  const tree = doc as unknown as Tree;
  const write = (path: string, value: Json | undefined): void => {
    const [at, key] = parent(tree, path);
    if (value === undefined) delete at[key];
    else at[key] = structuredClone(value);
  };
  if (created) for (const [path, value] of Object.entries(update.setOnInsert ?? {})) write(path, value);
  for (const [path, value] of Object.entries(update.set ?? {})) write(path, value);
  for (const path of update.unset ?? []) if (valueAt(doc, path) !== null || path.indexOf('.') < 0) write(path, undefined);
  for (const [path, by] of Object.entries(update.inc ?? {})) {
    const now = valueAt(doc, path);
    write(path, (typeof now === 'number' ? now : 0) + by);
  }
  for (const [path, value] of Object.entries(update.max ?? {})) {
    const now = valueAt(doc, path);
    if (now === null || compareValues(value, now) > 0) write(path, value);
  }
  for (const [path, value] of Object.entries(update.min ?? {})) {
    const now = valueAt(doc, path);
    if (now === null || compareValues(value, now) < 0) write(path, value);
  }
  for (const [path, { each, keep }] of Object.entries(update.push ?? {})) {
    const now = valueAt(doc, path);
    const all = [...(Array.isArray(now) ? now : []), ...each];
    write(path, keep === undefined ? all : all.slice(Math.max(0, all.length - keep)));
  }
  for (const [path, { field, in: gone }] of Object.entries(update.pull ?? {})) {
    const now = valueAt(doc, path);
    if (!Array.isArray(now)) continue;
    const key = (element: Json): Json =>
      field === undefined ? element : element !== null && typeof element === 'object' ? valueAt(element, field) : null;
    write(path, now.filter((element) => !gone.includes(key(element) as Scalar)));
  }
  return doc;
}

/** The document that an upsert creates before `update` is applied: the filter's plain equalities. */
export function seedOf(filter: Filter): Doc {
  const seed: Tree = {};
  for (const [path, condition] of Object.entries(filter)) {
    if (path === 'or' || condition === undefined || condition === null || typeof condition === 'object') continue;
    const [at, key] = parent(seed, path);
    at[key] = condition;
  }
  if (typeof seed['id'] !== 'string') throw new TypeError('an upsert names the id by equality');
  return seed as unknown as Doc;
}
