/**
 * The indexes of a collection as MongoDB has them. Pure.
 *
 * Paths by whose values few documents are found (`CollectionSpec.values`) share one index, a wildcard index over these
 * paths alone: it holds nothing of a document that lacks them. Servers without wildcard indexes get one for each path.
 * MongoDB tries several plans and goes on with the fastest, so it either sorts what a condition finds or walks the
 * order of the list until the page is full.
 */
import { checkPath } from '../../ports/document.js';
import type { CollectionSpec, IndexSpec } from '../../ports/store.js';
import { trigramField } from './trigrams.js';
import { fieldName } from './translate.js';

/** As `createIndexes` takes it. */
export interface MongoIndex {
  key: { [field: string]: 1 };
  name: string;
  unique?: true;
  sparse?: true;
  wildcardProjection?: { [field: string]: 1 };
}

const WILDCARD = '$**';
const FEW = 'few ';

/**
 * `shared` serves the same as all of `instead`, for servers that know wildcard indexes; null where there is nothing to
 * share.
 */
export interface MongoIndexes {
  own: MongoIndex[];
  shared: MongoIndex | null;
  instead: MongoIndex[];
}

type Declared = Pick<CollectionSpec, 'indexes' | 'values' | 'search'>;

export function indexesOf({ indexes, values = [], search = [] }: Declared): MongoIndexes {
  const own = [...indexes.map(toIndex), ...search.map(toSearchIndex)];
  const leading = new Set(own.map(({ key }) => Object.keys(key)[0]));
  const paths = values.filter((path) => !leading.has(fieldName(path)));
  const alone = paths.map((path) => toIndex({ fields: [path] }));
  if (paths.length < 2) return { own: [...own, ...alone], shared: null, instead: [] };
  return { own, shared: sharedBy(paths.map(fieldName)), instead: alone };
}

/**
 * The name of a unique one is its field, because the message of a conflict carries the name; the others end in `_id`,
 * as sorts do.
 */
export function toIndex({ fields, unique }: IndexSpec): MongoIndex {
  const names = fields.map(fieldName);
  if (unique) {
    if (fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
    return { key: { [names[0] as string]: 1 }, name: names[0] as string, unique: true, sparse: true };
  }
  const all = [...new Set([...names, '_id'])];
  return { key: Object.fromEntries(all.map((name) => [name, 1])), name: all.join() };
}

function toSearchIndex(path: string): MongoIndex {
  const field = trigramField(checkPath(path));
  return { key: { [field]: 1 }, name: field };
}

const sharedBy = (names: readonly string[]): MongoIndex => ({
  key: { [WILDCARD]: 1 },
  name: FEW + names.join(),
  wildcardProjection: Object.fromEntries(names.map((name) => [name, 1])),
});

/** Made here for an earlier declaration, and not by hand. Unique ones, which are more than a way to read, stay. */
export function isOurs({ key, name, unique }: { key: object; name?: string; unique?: boolean }): boolean {
  const fields = Object.keys(key);
  if (unique === true || fields.length === 0 || name === undefined) return false;
  if (fields[0] === WILDCARD) return name.startsWith(FEW);
  return fields.length > 1 && fields.at(-1) === '_id' && name === fields.join();
}

/** Fields whose equality an index serves. */
export const servedBy = ({ key, wildcardProjection }: Pick<MongoIndex, 'key' | 'wildcardProjection'>): string[] =>
  WILDCARD in key ? Object.keys(wildcardProjection ?? {}) : Object.keys(key).slice(0, 1);
