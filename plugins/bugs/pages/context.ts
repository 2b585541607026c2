/**
 * The list that a person came from, so that "Next" goes on in it: its canonical text, `''` for what `/bugs` shows, `view=all` for
 * everything. The list's own links carry it in the item's address (`?list=…`). Rejected: the referrer, which a browser may
 * keep to itself.
 */
import type { HttpRequest } from '../../../kernel/contract.js';
import { BARE, canonical, effective, filtersOf, type Filters } from './query.js';
import type { SortName } from '../lists/filters.js';

const EVERYTHING = 'view=all';

/** Canonical text of the list that the address names. */
export function contextOf({ query }: Pick<HttpRequest, 'query'>): string {
  const list = query['list'];
  if (typeof list !== 'string') return '';
  if (list === EVERYTHING) return list;
  const given = filtersOf(list);
  const text = given === null ? '' : canonical(given);
  return text === BARE ? '' : text;
}

/** The context of a list with these filters and this order. */
export function contextFor(given: Filters & { sort?: SortName }): string {
  const text = canonical(given);
  if (text === '') return EVERYTHING;
  return text === BARE ? '' : text;
}

/** The filters and the order of a context. */
export function listOf(context: string): Filters & { sort?: SortName } {
  if (context === EVERYTHING) return {};
  return context === '' ? effective({}) : (filtersOf(context) ?? effective({}));
}

/** What keeps the list in an address: `?list=…`, or nothing for the bare one. */
export const suffixOf = (context: string): string =>
  context === '' ? '' : `?${new URLSearchParams({ list: context }).toString()}`;

/** The list's own address. */
export const listUrl = (context: string): string => (context === '' ? '/bugs' : `/bugs?${context}`);
