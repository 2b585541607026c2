/**
 * The paths of `CollectionSpec.values` share one wildcard index, which has no entries for documents
 * without them.
 */
import { checkPath } from '../../ports/document.js';
import type { CollectionSpec, IndexSpec } from '../../ports/store/index.js';
import { toTrigramField } from './trigrams.js';
import { toFieldName } from './translate.js';

export interface MongoIndex {
  key: { [field: string]: 1 };
  name: string;
  unique?: true;
  sparse?: true;
  wildcardProjection?: { [field: string]: 1 };
}

const WILDCARD_FIELD = '$**';
const VALUE_INDEX_PREFIX = 'few ';

/**
 * `shared` replaces all of `instead` on servers with wildcard indexes; null when nothing is shared.
 */
export interface MongoIndexPlan {
  own: MongoIndex[];
  shared: MongoIndex | null;
  instead: MongoIndex[];
}

type IndexDeclaration = Pick<CollectionSpec, 'indexes' | 'values' | 'search'>;

export function buildIndexPlan({ indexes, values = [], search = [] }: IndexDeclaration): MongoIndexPlan {
  const own = [...indexes.map(toIndex), ...search.map(toSearchIndex)];
  const leading = new Set(own.map(({ key }) => Object.keys(key)[0]));
  const paths = values.filter((path) => !leading.has(toFieldName(path)));
  const alone = paths.map((path) => toIndex({ fields: [path] }));
  if (paths.length < 2) return { own: [...own, ...alone], shared: null, instead: [] };
  return { own, shared: toSharedIndex(paths.map(toFieldName)), instead: alone };
}

/** A unique index is named after its field, because the conflict message contains the name. */
export function toIndex({ fields, unique }: IndexSpec): MongoIndex {
  const names = fields.map(toFieldName);
  if (unique) {
    if (fields.length !== 1) throw new TypeError('a unique index takes exactly one field');
    return { key: { [names[0] as string]: 1 }, name: names[0] as string, unique: true, sparse: true };
  }
  const all = [...new Set([...names, '_id'])];
  return { key: Object.fromEntries(all.map((name) => [name, 1])), name: all.join() };
}

function toSearchIndex(path: string): MongoIndex {
  const field = toTrigramField(checkPath(path));
  return { key: { [field]: 1 }, name: field };
}

const toSharedIndex = (names: readonly string[]): MongoIndex => ({
  key: { [WILDCARD_FIELD]: 1 },
  name: VALUE_INDEX_PREFIX + names.join(),
  wildcardProjection: Object.fromEntries(names.map((name) => [name, 1])),
});

/** Returns whether an index was created by an earlier declaration, not manually. */
export function isManagedIndex({ key, name, unique }: { key: object; name?: string; unique?: boolean }): boolean {
  const fields = Object.keys(key);
  if (unique === true || fields.length === 0 || name === undefined) return false;
  if (fields[0] === WILDCARD_FIELD) return name.startsWith(VALUE_INDEX_PREFIX);
  return fields.length > 1 && fields.at(-1) === '_id' && name === fields.join();
}

export const listServedFields = ({
  key,
  wildcardProjection,
}: Pick<MongoIndex, 'key' | 'wildcardProjection'>): string[] =>
  WILDCARD_FIELD in key ? Object.keys(wildcardProjection ?? {}) : Object.keys(key).slice(0, 1);
