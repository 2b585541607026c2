/**
 * A memory store that records its queries, so that tests can check every query of a plugin against
 * its declared indexes. No test server shows MongoDB's query plans.
 */
import { MemoryStore } from '../../adapters/memory/store.js';
import type { Collection, CollectionSpec, Condition, Doc, Filter, Sort, Update } from '../../ports/store/index.js';

export interface RecordedQuery {
  collection: string;
  method: string;
  filter: Filter;
  sort: Sort;
}

export class WatchedStore extends MemoryStore {
  readonly asked: RecordedQuery[] = [];

  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    const note = (method: string, filter: Filter = {}, sort: Sort = []): void => {
      this.asked.push({ collection: name, method, filter, sort });
    };
    return {
      get: (id) => inner.get(id),
      insert: (doc) => inner.insert(doc),
      find: (query = {}) => {
        note('find', query.filter, query.sort);
        return inner.find(query);
      },
      count: (filter) => {
        note('count', filter);
        return inner.count(filter);
      },
      groupCount: (path, filter) => {
        note('groupCount', filter);
        return inner.groupCount(path, filter);
      },
      change: (filter, update: Update, options) => {
        note('change', filter, options?.sort);
        return inner.change(filter, update, options);
      },
      changeMany: (filter, update, limit) => {
        note('changeMany', filter);
        return inner.changeMany(filter, update, limit);
      },
      remove: (filter, limit) => {
        note('remove', filter);
        return inner.remove(filter, limit);
      },
      bulk: (ops) => {
        for (const op of ops)
          if ('change' in op || 'remove' in op) note('bulk', 'change' in op ? op.change : op.remove);
        return inner.bulk(ops);
      },
    };
  }
}

const isEqual = (condition: Condition | readonly Filter[] | undefined): boolean =>
  condition !== undefined && (condition === null || typeof condition !== 'object');

function isRange(condition: Condition | readonly Filter[] | undefined): boolean {
  if (isEqual(condition)) return true;
  if (condition === null || condition === undefined || typeof condition !== 'object') return false;
  return ['in', 'gt', 'gte', 'lt', 'lte', 'prefix'].some((operator) => operator in condition);
}

/**
 * Returns whether an index finds the matches or provides the order, so that no full collection scan
 * with a sort is needed.
 */
export function isCoveredByIndex({ method, filter, sort }: RecordedQuery, indexes: CollectionSpec['indexes']): boolean {
  if (isRange(filter['id'])) return true;
  const first = sort[0]?.[0];
  const byId = first === undefined || first === 'id';
  if (method === 'find' && Object.keys(filter).length === 0 && byId) return true;
  if (!byId) {
    return indexes.some(({ fields }) => fields.find((path) => path === first || !isEqual(filter[path])) === first);
  }
  if (indexes.some(({ fields: [path = ''] }) => isRange(filter[path]))) return true;
  return (
    (filter.or ?? []).length > 0 &&
    (filter.or ?? []).every((part) => isCoveredByIndex({ ...EMPTY_QUERY, filter: part }, indexes))
  );
}

const EMPTY_QUERY: RecordedQuery = { collection: '', method: 'count', filter: {}, sort: [] };

/**
 * Few documents are found by one of `values` or by a text (ports/store/index.ts, CollectionSpec),
 * in any order. Many need a scan in that order, which the other rule covers.
 */
function isSelectiveLookup(requested: RecordedQuery, spec: Partial<CollectionSpec>): boolean {
  const { filter, sort } = requested;
  const { values = [], search = [] } = spec;
  const first = sort[0]?.[0] ?? 'id';
  if (first !== 'id' && !values.includes(first)) return false;
  const has = (path: string, ...operators: string[]): boolean => {
    const condition = filter[path];
    return typeof condition === 'object' && condition !== null && operators.some((one) => one in condition);
  };
  return (
    values.some((path) => isRange(filter[path]) || has(path, 'has', 'has_any')) ||
    search.some((path) => has(path, 'contains')) ||
    ((filter.or ?? []).length > 0 &&
      (filter.or ?? []).every((part) => isSelectiveLookup({ ...requested, filter: part }, spec)))
  );
}

/**
 * Returns queries without an index, each once, as `tokens.find {"kind":…} by created_at`, and the
 * number of queries checked.
 */
export function listUncoveredQueries(
  requested: readonly RecordedQuery[],
  prefix: string,
  specs: readonly CollectionSpec[],
): { without: string[]; looked: number } {
  const own = requested.filter(({ collection }) => collection.startsWith(`${prefix}_`));
  const without = own.filter((query) => {
    const spec = specs.find(({ name }) => `${prefix}_${name}` === query.collection);
    return !isCoveredByIndex(query, spec?.indexes ?? []) && !isSelectiveLookup(query, spec ?? {});
  });
  const shown = without.map(
    ({ collection, method, filter, sort }) =>
      `${collection}.${method} ${JSON.stringify(filter)} ${JSON.stringify(sort)}`,
  );
  return { without: [...new Set(shown)], looked: own.length };
}
