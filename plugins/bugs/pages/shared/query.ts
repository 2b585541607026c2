import joi from 'joi';
import { utcOfLocal } from '../../../../lib/local-time.js';
import { DAY_MS, HOUR_MS, isoOf, normalizeTime } from '../../../../lib/time.js';
import { SORTS, type ItemQuery, type SortName, type TimeRange } from '../../item/filters.js';
import { STATUSES } from '../../item/transitions.js';

const SPAN_MS: Readonly<Record<string, number>> = {
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};
const SPANS = Object.keys(SPAN_MS);

const nothing = joi.any().valid('').strip();
const list = (...items: joi.Schema[]): joi.ArraySchema =>
  joi
    .array()
    .items(...items, nothing)
    .max(50);
const words = (...values: string[]): joi.ArraySchema => list(joi.string().valid(...values));
const texts = (): joi.ArraySchema => list(joi.string().max(200));

const day = joi.string().pattern(/^(?:19|[2-9]\d)\d\d-\d\d-\d\d$/, 'a date such as 2026-11-22');

/** Time ranges: the last hours or days, or from one day to another; the narrower bound applies. */
export const times = {
  first_seen: words(...SPANS),
  first_from: list(day),
  first_to: list(day),
  last_seen: words(...SPANS),
  last_from: list(day),
  last_to: list(day),
};

const filters = {
  q: list(joi.string().max(500)),
  status: words(...STATUSES),
  type: words('bug', 'feature', 'error'),
  severity: words('critical', 'high', 'medium', 'low'),
  error_level: words('fatal', 'error', 'warning'),
  project: texts(),
  environment: texts(),
  tag: texts(),
  version: texts(),
  host: texts(),
  claimed_by: texts(),
  assignee: texts(),
  target_agent: texts(),
  exception_class: texts(),
  file_path: list(joi.string().max(1024)),
  muted: list(joi.boolean()),
  regression: list(joi.boolean()),
  ...times,
};
export const FILTERS = Object.keys(filters) as (keyof typeof filters)[];

const order = joi
  .string()
  .valid(...SORTS)
  .empty('');

export const listQuery = joi.object({
  ...filters,
  sort: order,
  cursor: joi.string().max(20_000).empty(''),
  view: joi.string().valid('all').empty(''),
});
const viewQuery = joi.object({ ...filters, sort: order });

export type Filters = Pick<ItemQuery, Exclude<keyof typeof filters, keyof typeof times>> &
  Partial<Record<keyof typeof times, string[]>>;
export type ListQuery = Filters & { sort?: SortName; cursor?: string; view?: 'all' };

/** Default filters of `/bugs`: available items. */
export const DEFAULT_FILTERS: Filters = { status: ['open'], muted: [false] };

/**
 * Returns the filters of a list, or the default ones when the URL names none.
 * @param chosen the project comes from the navigation bar, not from the URL
 */
export function effective({ view, ...given }: ListQuery, chosen = false): Omit<ListQuery, 'view'> {
  const said = FILTERS.filter((name) => !chosen || name !== 'project');
  const named = view === 'all' || said.some((name) => (given[name]?.length ?? 0) > 0);
  return named ? given : { ...given, ...DEFAULT_FILTERS };
}

export function itemQueryOf(
  { first_seen, first_from, first_to, last_seen, last_from, last_to, ...plain }: Filters,
  now: number,
  zone: string,
): ItemQuery {
  const first = rangeOf(first_seen?.[0], first_from?.[0], first_to?.[0], now, zone);
  const last = rangeOf(last_seen?.[0], last_from?.[0], last_to?.[0], now, zone);
  return { ...plain, ...(first && { first_seen_at: first }), ...(last && { last_seen_at: last }) };
}

function rangeOf(
  span: string | undefined,
  from: string | undefined,
  to: string | undefined,
  now: number,
  zone: string,
): TimeRange | null {
  const start = from === undefined ? null : utcOfLocal(`${from}T00:00`, zone);
  const end = to === undefined ? null : utcOfLocal(`${dayAfter(to)}T00:00`, zone);
  const since = span === undefined ? null : isoOf(now - (SPAN_MS[span] ?? 0));
  const [gte] = [start, since]
    .filter((at) => at !== null)
    .toSorted()
    .toReversed();
  if (gte === undefined && end === null) return null;
  return { ...(gte !== undefined && { gte }), ...(end !== null && { lt: end }) };
}

function dayAfter(text: string): string {
  const at = normalizeTime(text);
  return at === null ? text : isoOf(Date.parse(at) + DAY_MS).slice(0, 10);
}

/** Sorts names and values, so that equal filter sets have equal texts; `''` without filters. */
export function canonical(query: Filters & { sort?: string }): string {
  const search = new URLSearchParams();
  for (const name of FILTERS.toSorted()) {
    const values = (query[name] ?? []).map(String);
    for (const value of values.toSorted()) search.append(name, value);
  }
  if (query.sort !== undefined && query.sort !== 'last_seen_at') search.set('sort', query.sort);
  return search.toString();
}

export function filtersOf(search: string): (Filters & { sort?: SortName }) | null {
  const given: Record<string, string[] | string> = {};
  for (const [name, value] of new URLSearchParams(search.slice(0, 20_000))) {
    if (name === 'cursor' || name === 'view') continue;
    if (name === 'sort') given['sort'] = value;
    else given[name] = [...(Array.isArray(given[name]) ? given[name] : []), value];
  }
  const { value, error } = viewQuery.validate(given);
  return error === undefined ? (value as Filters & { sort?: SortName }) : null;
}

export const BARE = canonical(DEFAULT_FILTERS);

export function bugsUrl(search: string): string {
  if (search === BARE) return '/bugs';
  return search === '' ? '/bugs?view=all' : `/bugs?${search}`;
}
