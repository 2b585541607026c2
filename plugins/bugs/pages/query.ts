/** The filters of /bugs in the address: which are allowed, and one canonical text for each set of filters. Pure. */
import joi from 'joi';
import { SORTS, type ItemQuery, type SortName } from '../lists/filters.js';
import { STATUSES } from '../items/transitions.js';

/** An empty field of the form sets no filter. */
const nothing = joi.any().valid('').strip();
const list = (...items: joi.Schema[]): joi.ArraySchema =>
  joi
    .array()
    .items(...items, nothing)
    .max(50);
const words = (...values: string[]): joi.ArraySchema => list(joi.string().valid(...values));
const texts = (): joi.ArraySchema => list(joi.string().max(200));

const filters = {
  q: list(joi.string().max(500)),
  status: words(...STATUSES),
  type: words('bug', 'feature', 'error'),
  severity: words('critical', 'high', 'medium', 'low'),
  error_level: words('fatal', 'error', 'warning'),
  project: texts(),
  environment: texts(),
  tag: texts(),
  claimed_by: texts(),
  assignee: texts(),
  target_agent: texts(),
  exception_class: texts(),
  muted: list(joi.boolean()),
  regression: list(joi.boolean()),
};
export const FILTERS = Object.keys(filters) as (keyof typeof filters)[];

const order = joi
  .string()
  .valid(...SORTS)
  .empty('');

export const listQuery = joi.object({ ...filters, sort: order, cursor: joi.string().max(20_000).empty('') });
const viewQuery = joi.object({ ...filters, sort: order });

export type Filters = Pick<ItemQuery, keyof typeof filters>;
export type ListQuery = Filters & { sort?: SortName; cursor?: string };

/** Names and values in order, so that equal sets of filters are equal texts; `''` for no filter. */
export function canonical(query: Filters & { sort?: string }): string {
  const search = new URLSearchParams();
  for (const name of FILTERS.toSorted()) {
    const values = (query[name] ?? []).map(String);
    for (const value of values.toSorted()) search.append(name, value);
  }
  if (query.sort !== undefined && query.sort !== 'last_seen_at') search.set('sort', query.sort);
  return search.toString();
}

/** The filters of a query string. @returns null when one of them is none of ours, or its value is wrong */
export function filtersOf(search: string): (Filters & { sort?: SortName }) | null {
  const given: Record<string, string[] | string> = {};
  for (const [name, value] of new URLSearchParams(search.slice(0, 20_000))) {
    if (name === 'cursor') continue;
    if (name === 'sort') given['sort'] = value;
    else given[name] = [...(Array.isArray(given[name]) ? given[name] : []), value];
  }
  const { value, error } = viewQuery.validate(given);
  return error === undefined ? (value as Filters & { sort?: SortName }) : null;
}

/** `/bugs` with these filters. */
export const bugsUrl = (search: string): string => (search === '' ? '/bugs' : `/bugs?${search}`);
