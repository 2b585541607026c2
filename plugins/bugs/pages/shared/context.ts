/**
 * The list that a person came from, so that "Next" goes on in it: its canonical text, `''` for what `/bugs` shows. The
 * item's address carries it (`?list=…`), and at the first step the referrer, which stays within the service.
 */
import type { HttpRequest } from '../../../../kernel/contract.js';
import { BARE, canonical, effective, filtersOf, type Filters } from './query.js';
import type { SortName } from '../../item/filters.js';

const MAX_LENGTH = 8000;

/** `/bugs?…` or `/bugs/{ref}?list=…` of this service; null for every other address. */
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

/** Canonical text of the list; `''` for the bare one, `view=all` for everything. */
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

/** The filters and the order of a context. */
export function listOf(context: string): Filters & { sort?: SortName } {
  if (context === 'view=all') return {};
  return context === '' ? effective({}) : (filtersOf(context) ?? effective({}));
}

/** The part of an address that keeps the list: `?list=…`, or nothing for the bare one. */
export const suffixOf = (context: string): string =>
  context === '' ? '' : `?${new URLSearchParams({ list: context }).toString()}`;

/** The list's own address. */
export const listUrl = (context: string): string => (context === '' ? '/bugs' : `/bugs?${context}`);
