/** Each value links to matching occurrences and, where the list has the filter, items. */
import { isFiltered, PAGE_FILTER_NAMES, type OccurrenceFilter } from '../../lists/occurrence-facets.js';
import type { Spread, ValueCount } from '../../lists/occurrence-spread.js';
import { buildEventsUrl, getEventsPage, type EventsPage } from './events-url.js';
import type { ItemSectionInput } from './section.js';

export const buildSpreadSection = (about: ItemSectionInput): object => {
  const here = getEventsPage(about);
  return {
    spread: buildSpreadRows(about.detail.spread, here),
    narrowed: isFiltered(here.where) ? { by: buildChips(here), clear: buildEventsUrl(here, {}) } : null,
  };
};

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
  here: EventsPage,
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
  here: EventsPage,
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
        href: buildEventsUrl(here, { ...here.where, [name]: chosen ? [] : [whole] }),
        items_href: listed === undefined ? null : `/bugs?${new URLSearchParams({ [listed]: whole }).toString()}`,
      };
    }),
  };
}

const buildChips = (here: EventsPage): object[] =>
  PAGE_FILTER_NAMES.flatMap((name) =>
    (here.where[name] ?? []).map((value) => ({
      name: name === 'at' ? 'time' : name,
      value: value.replace('T', ' '),
      href: buildEventsUrl(here, { ...here.where, [name]: here.where[name]?.filter((other) => other !== value) ?? [] }),
    })),
  );
