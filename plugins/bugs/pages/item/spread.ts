/**
 * Facets of the stored occurrences. Each value links to matching occurrences and, where the item
 * list supports the filter, to matching items.
 */
import { isFiltered, WHERE, type Where } from '../../lists/facets.js';
import type { Spread, ValueCount } from '../../lists/spread.js';
import { whereOf, type About } from './about.js';

export const spread = ({ detail, item, context, request }: About): object => {
  const where = whereOf(request);
  const here: Here = { path: `/bugs/${item.ref}`, context, where };
  return {
    spread: spreadRows(detail.spread, here),
    narrowed: isFiltered(where) ? { by: chipsOf(here), clear: addressOf(here, {}) } : null,
  };
};

interface Here {
  path: string;
  context: string;
  where: Where;
}

interface Row {
  label: string;
  total: number;
  shares: object[];
}

const LISTED: Readonly<Partial<Record<keyof Where, string>>> = {
  version: 'version',
  environment: 'environment',
  host: 'host',
  tag: 'tag',
};

export function spreadRows({ versions, environments, hosts, browsers, tags }: Spread, here: Here): Row[] {
  const rows = [
    rowOf('Versions', 'version', versions, here),
    rowOf('Environments', 'environment', environments, here),
    rowOf('Hosts', 'host', hosts, here),
    rowOf('Browsers', 'browser', browsers, here),
    ...Object.entries(tags).map(([key, shares]) =>
      key === 'tag' ? rowOf('Tags', 'tag', shares, here) : rowOf(key, 'tag', shares, here, `${key}:`),
    ),
  ];
  return rows.filter(({ shares }) => shares.length > 0);
}

function rowOf(label: string, name: keyof Where, shares: readonly ValueCount[], here: Here, prefix = ''): Row {
  const total = shares.reduce((sum, { count }) => sum + count, 0);
  return {
    label,
    total,
    shares: shares.map(({ value, count }) => {
      const whole = prefix + value;
      const chosen = here.where[name]?.includes(whole) === true;
      const listed = LISTED[name];
      return {
        value,
        count,
        chosen,
        href: addressOf(here, { ...here.where, [name]: chosen ? [] : [whole] }),
        items_href: listed === undefined ? null : `/bugs?${new URLSearchParams({ [listed]: whole }).toString()}`,
      };
    }),
  };
}

const chipsOf = (here: Here): object[] =>
  WHERE.flatMap((name) =>
    (here.where[name] ?? []).map((value) => ({
      name,
      value,
      href: addressOf(here, { ...here.where, [name]: here.where[name]?.filter((other) => other !== value) ?? [] }),
    })),
  );

function addressOf({ path, context }: Here, where: Where): string {
  const query = new URLSearchParams();
  for (const name of WHERE) for (const value of where[name] ?? []) query.append(name, value);
  if (context !== '') query.set('list', context);
  const text = query.toString();
  return `${path}${text === '' ? '' : `?${text}`}#occurrences`;
}
