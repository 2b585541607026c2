/** Each value links to matching occurrences and, where the list has the filter, items. */
import { isFiltered, OCCURRENCE_FILTER_NAMES, type OccurrenceFilter } from '../../lists/occurrence-facets.js';
import type { Spread, ValueCount } from '../../lists/occurrence-spread.js';
import { parseOccurrenceFilter, type ItemSectionInput } from './section.js';

export const buildSpreadSection = ({ detail, item, context, request }: ItemSectionInput): object => {
  const where = parseOccurrenceFilter(request);
  const here: SpreadPage = { path: `/bugs/${item.ref}`, context, where };
  return {
    spread: buildSpreadRows(detail.spread, here),
    narrowed: isFiltered(where) ? { by: buildChips(here), clear: buildUrl(here, {}) } : null,
  };
};

interface SpreadPage {
  path: string;
  context: string;
  where: OccurrenceFilter;
}

interface SpreadRow {
  label: string;
  total: number;
  shares: object[];
}

const LIST_FILTER_NAMES: Readonly<Partial<Record<keyof OccurrenceFilter, string>>> = {
  version: 'version',
  environment: 'environment',
  host: 'host',
  tag: 'tag',
};

export function buildSpreadRows(
  { versions, environments, hosts, browsers, tags }: Spread,
  here: SpreadPage,
): SpreadRow[] {
  const rows = [
    buildRow('Versions', 'version', versions, here),
    buildRow('Environments', 'environment', environments, here),
    buildRow('Hosts', 'host', hosts, here),
    buildRow('Browsers', 'browser', browsers, here),
    ...Object.entries(tags).map(([key, shares]) =>
      key === 'tag' ? buildRow('Tags', 'tag', shares, here) : buildRow(key, 'tag', shares, here, `${key}:`),
    ),
  ];
  return rows.filter(({ shares }) => shares.length > 0);
}

function buildRow(
  label: string,
  name: keyof OccurrenceFilter,
  shares: readonly ValueCount[],
  here: SpreadPage,
  prefix = '',
): SpreadRow {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  return {
    label,
    total,
    shares: shares.map(({ value, count }) => {
      const whole = prefix + value;
      const chosen = here.where[name]?.includes(whole) === true;
      const listed = LIST_FILTER_NAMES[name];
      return {
        value,
        count,
        chosen,
        href: buildUrl(here, { ...here.where, [name]: chosen ? [] : [whole] }),
        items_href: listed === undefined ? null : `/bugs?${new URLSearchParams({ [listed]: whole }).toString()}`,
      };
    }),
  };
}

const buildChips = (here: SpreadPage): object[] =>
  OCCURRENCE_FILTER_NAMES.flatMap((name) =>
    (here.where[name] ?? []).map((value) => ({
      name,
      value,
      href: buildUrl(here, { ...here.where, [name]: here.where[name]?.filter((other) => other !== value) ?? [] }),
    })),
  );

function buildUrl({ path, context }: SpreadPage, where: OccurrenceFilter): string {
  const query = new URLSearchParams();
  for (const name of OCCURRENCE_FILTER_NAMES) for (const value of where[name] ?? []) query.append(name, value);
  if (context !== '') query.set('list', context);
  const text = query.toString();
  return `${path}${text === '' ? '' : `?${text}`}#occurrences`;
}
