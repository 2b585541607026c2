/**
 * The list that "Next" continues: a canonical query string, `''` for plain `/bugs`. The item's URL
 * carries it (`?list=…`), initially the referrer.
 */
import type { HttpRequest } from '../../../../kernel/contract/index.js';
import {
  DEFAULT_LIST_QUERY,
  toCanonicalQuery,
  applyDefaultFilters,
  parseFilters,
  type ListFilters,
} from './list-query.js';
import type { SortName } from '../../item/filters.js';

const MAX_CONTEXT_LENGTH = 8000;

/** Extracts from `/bugs?…` or `/bugs/{ref}?list=…`, otherwise null. */
function parseListUrl(referer: string): string | null {
  if (!URL.canParse(referer)) return null;
  const { pathname, searchParams } = new URL(referer);
  if (pathname.startsWith('/bugs/')) return searchParams.get('list');
  if (pathname !== '/bugs') return null;
  const view = searchParams.get('view') === 'all' ? 'all' : undefined;
  searchParams.delete('view');
  const given = parseFilters(searchParams.toString());
  return given === null ? null : toCanonicalQuery(applyDefaultFilters({ ...given, ...(view && { view }) }));
}

/** `''` for the default list, `view=all` without filters. */
export function getListContext({ query, headers }: Pick<HttpRequest, 'query' | 'headers'>): string {
  const named = query['list'];
  const list =
    typeof named === 'string' ? named : parseListUrl((headers['referer'] ?? '').slice(0, MAX_CONTEXT_LENGTH));
  if (list === null) return '';
  if (list === '' && typeof named !== 'string') return 'view=all';
  if (list === 'view=all') return list;
  const given = parseFilters(list);
  const text = given === null ? '' : toCanonicalQuery(given);
  return text === DEFAULT_LIST_QUERY ? '' : text;
}

export function parseListContext(context: string): ListFilters & { sort?: SortName } {
  if (context === 'view=all') return {};
  return context === '' ? applyDefaultFilters({}) : (parseFilters(context) ?? applyDefaultFilters({}));
}

export const toContextSuffix = (context: string): string =>
  context === '' ? '' : `?${new URLSearchParams({ list: context }).toString()}`;

export const buildListUrl = (context: string): string => (context === '' ? '/bugs' : `/bugs?${context}`);
