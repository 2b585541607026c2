/**
 * List that a user came from, so that "Next" continues in it: a canonical query string, `''` for
 * plain `/bugs`. The item's URL carries it (`?list=…`), initially the referrer.
 */
import type { HttpRequest } from '../../../../kernel/contract.js';
import { BARE, canonical, effective, filtersOf, type Filters } from './query.js';
import type { SortName } from '../../item/filters.js';

const MAX_LENGTH = 8000;

/** Extracts the list from `/bugs?…` or `/bugs/{ref}?list=…`; null for other URLs. */
function listIn(referer: string): string | null {
  if (!URL.canParse(referer)) return null;
  const { pathname, searchParams } = new URL(referer);
  if (pathname.startsWith('/bugs/')) return searchParams.get('list');
  if (pathname !== '/bugs') return null;
  const view = searchParams.get('view') === 'all' ? 'all' : undefined;
  searchParams.delete('view');
  const given = filtersOf(searchParams.toString());
  return given === null ? null : canonical(effective({ ...given, ...(view && { view }) }));
}

/** Returns the canonical list query; `''` for the default list, `view=all` without filters. */
export function contextOf({ query, headers }: Pick<HttpRequest, 'query' | 'headers'>): string {
  const named = query['list'];
  const list = typeof named === 'string' ? named : listIn((headers['referer'] ?? '').slice(0, MAX_LENGTH));
  if (list === null) return '';
  if (list === '' && typeof named !== 'string') return 'view=all';
  if (list === 'view=all') return list;
  const given = filtersOf(list);
  const text = given === null ? '' : canonical(given);
  return text === BARE ? '' : text;
}

export function listOf(context: string): Filters & { sort?: SortName } {
  if (context === 'view=all') return {};
  return context === '' ? effective({}) : (filtersOf(context) ?? effective({}));
}

export const suffixOf = (context: string): string =>
  context === '' ? '' : `?${new URLSearchParams({ list: context }).toString()}`;

export const listUrl = (context: string): string => (context === '' ? '/bugs' : `/bugs?${context}`);
