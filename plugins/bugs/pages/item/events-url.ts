/** Addresses of an item's page with another choice of its events. */
import type { HttpRequest } from '../../../../kernel/contract/index.js';
import { PAGE_FILTER_NAMES, type OccurrenceFilter } from '../../lists/occurrence-facets.js';
import { getQueryText, parseOccurrenceFilter, type ItemSectionInput } from './section.js';

const RANGE_NAMES = ['24h', '7d', '30d'] as const;
export type ChartRange = (typeof RANGE_NAMES)[number];
const DEFAULT_RANGE: ChartRange = '30d';

export interface EventsPage {
  path: string;
  /** The list that the item was opened from. */
  context: string;
  range: ChartRange;
  where: OccurrenceFilter;
}

export function getChartRange(request: HttpRequest): ChartRange {
  const named = getQueryText(request, 'range');
  return RANGE_NAMES.find((name) => name === named) ?? DEFAULT_RANGE;
}

export const getEventsPage = ({
  item,
  context,
  request,
}: Pick<ItemSectionInput, 'item' | 'context' | 'request'>): EventsPage => ({
  path: `/bugs/${item.ref}`,
  context,
  range: getChartRange(request),
  where: parseOccurrenceFilter(request),
});

/** @param slot of an event; null: the newest */
export function buildEventsUrl(
  { path, context, range }: EventsPage,
  where: OccurrenceFilter,
  anchor = '#occurrences',
  slot: number | null = null,
): string {
  const query = new URLSearchParams();
  for (const name of PAGE_FILTER_NAMES) for (const value of where[name] ?? []) query.append(name, value);
  if (range !== DEFAULT_RANGE) query.set('range', range);
  if (slot !== null) query.set('occurrences', String(slot));
  if (context !== '') query.set('list', context);
  const text = query.toString();
  return `${path}${text === '' ? '' : `?${text}`}${anchor}`;
}
