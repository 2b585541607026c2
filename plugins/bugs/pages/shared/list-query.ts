import joi from 'joi';
import { utcOfLocal } from '../../../../lib/local-time.js';
import { DAY_MS, HOUR_MS, toIsoString, normalizeTime } from '../../../../lib/time.js';
import { SORT_NAMES, type ItemQuery, type SortName, type TimeRange } from '../../item/filters.js';
import { STATUSES } from '../../item/transitions.js';

const TIME_SPAN_MS: Readonly<Record<string, number>> = {
  '1h': HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
};
const TIME_SPANS = Object.keys(TIME_SPAN_MS);

const emptySchema = joi.any().valid('').strip();
const buildListSchema = (...items: joi.Schema[]): joi.ArraySchema =>
  joi
    .array()
    .items(...items, emptySchema)
    .max(50);
const buildChoiceSchema = (...values: string[]): joi.ArraySchema => buildListSchema(joi.string().valid(...values));
const buildTextListSchema = (): joi.ArraySchema => buildListSchema(joi.string().max(200));

const daySchema = joi.string().pattern(/^(?:19|[2-9]\d)\d\d-\d\d-\d\d$/, 'a date such as 2026-11-22');

/** The last hours or days, or between two days; the narrower bound applies. */
export const timeRangeSchemas = {
  first_seen: buildChoiceSchema(...TIME_SPANS),
  first_from: buildListSchema(daySchema),
  first_to: buildListSchema(daySchema),
  last_seen: buildChoiceSchema(...TIME_SPANS),
  last_from: buildListSchema(daySchema),
  last_to: buildListSchema(daySchema),
};

const filterSchemas = {
  q: buildListSchema(joi.string().max(500)),
  status: buildChoiceSchema(...STATUSES),
  type: buildChoiceSchema('bug', 'feature', 'error'),
  severity: buildChoiceSchema('critical', 'high', 'medium', 'low'),
  error_level: buildChoiceSchema('fatal', 'error', 'warning'),
  project: buildTextListSchema(),
  environment: buildTextListSchema(),
  tag: buildTextListSchema(),
  version: buildTextListSchema(),
  host: buildTextListSchema(),
  claimed_by: buildTextListSchema(),
  assignee: buildTextListSchema(),
  target_agent: buildTextListSchema(),
  exception_class: buildTextListSchema(),
  file_path: buildListSchema(joi.string().max(1024)),
  muted: buildListSchema(joi.boolean()),
  regression: buildListSchema(joi.boolean()),
  ...timeRangeSchemas,
};
export const FILTER_NAMES = Object.keys(filterSchemas) as (keyof typeof filterSchemas)[];

const sortSchema = joi
  .string()
  .valid(...SORT_NAMES)
  .empty('');

export const listQuerySchema = joi.object({
  ...filterSchemas,
  sort: sortSchema,
  cursor: joi.string().max(20_000).empty(''),
  view: joi.string().valid('all').empty(''),
  /** The same as `type`. */
  kind: filterSchemas.type,
  format: joi.string().valid('csv').empty(''),
});
const viewQuerySchema = joi.object({ ...filterSchemas, sort: sortSchema });

export type ListFilters = Pick<ItemQuery, Exclude<keyof typeof filterSchemas, keyof typeof timeRangeSchemas>> &
  Partial<Record<keyof typeof timeRangeSchemas, string[]>>;
export type ItemListQuery = ListFilters & { sort?: SortName; cursor?: string; view?: 'all' };

/** Available items. */
export const DEFAULT_FILTERS: ListFilters = { status: ['open'], muted: [false] };

/** @param chosen the project comes from the navigation bar, not from the URL */
export function applyDefaultFilters({ view, ...given }: ItemListQuery, chosen = false): Omit<ItemListQuery, 'view'> {
  const filterNames = FILTER_NAMES.filter((name) => !chosen || name !== 'project');
  const named = view === 'all' || filterNames.some((name) => (given[name]?.length ?? 0) > 0);
  return named ? given : { ...given, ...DEFAULT_FILTERS };
}

export function toItemQuery(
  { first_seen, first_from, first_to, last_seen, last_from, last_to, ...plain }: ListFilters,
  now: number,
  zone: string,
): ItemQuery {
  const first = toTimeRange(first_seen?.[0], first_from?.[0], first_to?.[0], now, zone);
  const last = toTimeRange(last_seen?.[0], last_from?.[0], last_to?.[0], now, zone);
  return { ...plain, ...(first && { first_seen_at: first }), ...(last && { last_seen_at: last }) };
}

function toTimeRange(
  span: string | undefined,
  from: string | undefined,
  to: string | undefined,
  now: number,
  zone: string,
): TimeRange | null {
  const start = from === undefined ? null : utcOfLocal(`${from}T00:00`, zone);
  const end = to === undefined ? null : utcOfLocal(`${getNextDay(to)}T00:00`, zone);
  const since = span === undefined ? null : toIsoString(now - (TIME_SPAN_MS[span] ?? 0));
  const [gte] = [start, since]
    .filter((at) => at !== null)
    .toSorted()
    .toReversed();
  if (gte === undefined && end === null) return null;
  return { ...(gte !== undefined && { gte }), ...(end !== null && { lt: end }) };
}

function getNextDay(text: string): string {
  const at = normalizeTime(text);
  return at === null ? text : toIsoString(Date.parse(at) + DAY_MS).slice(0, 10);
}

/** Equal filter sets have equal texts; `''` without filters. */
export function toCanonicalQuery(query: ListFilters & { sort?: string }): string {
  const search = new URLSearchParams();
  for (const name of FILTER_NAMES.toSorted()) {
    const values = (query[name] ?? []).map(String);
    for (const value of values.toSorted()) search.append(name, value);
  }
  if (query.sort !== undefined && query.sort !== 'last_seen_at') search.set('sort', query.sort);
  return search.toString();
}

export function parseFilters(search: string): (ListFilters & { sort?: SortName }) | null {
  const given: Record<string, string[] | string> = {};
  for (const [name, value] of new URLSearchParams(search.slice(0, 20_000))) {
    if (name === 'cursor' || name === 'view') continue;
    if (name === 'sort') given['sort'] = value;
    else given[name] = [...(Array.isArray(given[name]) ? given[name] : []), value];
  }
  const { value, error } = viewQuerySchema.validate(given);
  return error === undefined ? (value as ListFilters & { sort?: SortName }) : null;
}

export const DEFAULT_LIST_QUERY = toCanonicalQuery(DEFAULT_FILTERS);

export function buildBugsUrl(search: string): string {
  if (search === DEFAULT_LIST_QUERY) return '/bugs';
  return search === '' ? '/bugs?view=all' : `/bugs?${search}`;
}
