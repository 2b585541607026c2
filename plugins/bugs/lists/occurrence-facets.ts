import { detectBrowser } from '../../../lib/text/browser-name.js';
import { getVersionIdentity } from '../../../lib/versions.js';
import type { Json } from '../../../ports/store/index.js';
import type { OccurrenceDoc } from '../item/occurrence-documents.js';

export type OccurrenceFacets = Pick<OccurrenceDoc, 'occurred_at' | 'app_version' | 'environment' | 'host' | 'tags'> & {
  browser: string | null;
};

/** Any value of a field; all given fields. */
export interface OccurrenceFilter {
  version?: string[];
  environment?: string[];
  host?: string[];
  browser?: string[];
  tag?: string[];
  /** Beginnings of `occurred_at`: a day, or an hour such as `2026-11-29T13`; pages only. */
  at?: string[];
  /** The first and the last such beginning of a range; pages only. */
  from?: string[];
  to?: string[];
}

export const OCCURRENCE_FILTER_NAMES = [
  'version',
  'environment',
  'host',
  'browser',
  'tag',
] as const satisfies readonly (keyof OccurrenceFilter)[];

export const PAGE_FILTER_NAMES = [...OCCURRENCE_FILTER_NAMES, 'at', 'from', 'to'] as const;

export const isFiltered = (where: OccurrenceFilter): boolean =>
  PAGE_FILTER_NAMES.some((name) => (where[name]?.length ?? 0) > 0);

export const getFacets = ({
  occurred_at,
  app_version,
  environment,
  host,
  tags,
  context,
}: Omit<OccurrenceDoc, 'id'>): OccurrenceFacets => ({
  occurred_at,
  app_version,
  environment,
  host,
  tags,
  browser: findBrowser(context),
});

export function matchesFacets(
  { occurred_at, app_version, environment, host, browser, tags }: OccurrenceFacets,
  where: OccurrenceFilter,
): boolean {
  const among = (wanted: string[] | undefined, ...values: (string | null | undefined)[]): boolean =>
    wanted === undefined || wanted.length === 0 || values.some((value) => value && wanted.includes(value));
  return (
    isVersionAmong(where.version, app_version) &&
    among(where.environment, environment) &&
    among(where.host, host) &&
    among(where.browser, browser) &&
    among(where.tag, ...tags) &&
    (!where.at?.length || where.at.some((begin) => occurred_at.startsWith(begin))) &&
    (where.from ?? []).every((begin) => occurred_at >= begin) &&
    (where.to ?? []).every((end) => occurred_at.slice(0, end.length) <= end)
  );
}

/** `1.3` finds `1.3.0`. */
function isVersionAmong(wanted: string[] | undefined, version: string | null): boolean {
  if (wanted === undefined || wanted.length === 0) return true;
  const own = version === null ? null : getVersionIdentity(version);
  return wanted.some((one) => getVersionIdentity(one) === own);
}

function findBrowser(context: Json | undefined): string | null {
  const named = getText(context, 'contexts', 'browser', 'name') ?? getText(context, 'browser', 'name');
  if (named !== null) return named.slice(0, 60);
  const agent =
    findHeader(getValue(context, 'request', 'headers'), 'user-agent') ??
    getText(context, 'attributes', 'user_agent.original') ??
    getText(context, 'user_agent');
  return agent === null ? null : detectBrowser(agent);
}

/** A map or a list of pairs. */
function findHeader(headers: Json, name: string): string | null {
  const pairs: readonly unknown[] = Array.isArray(headers) ? headers : Object.entries(headers ?? {});
  for (const pair of pairs) {
    if (!Array.isArray(pair)) continue;
    const [key, value] = pair as unknown[];
    if (typeof key === 'string' && key.toLowerCase() === name && typeof value === 'string') return value;
  }
  return null;
}

function getValue(from: Json | undefined, ...path: readonly string[]): Json {
  let at = from ?? null;
  for (const key of path) {
    if (at === null || typeof at !== 'object' || Array.isArray(at) || !Object.hasOwn(at, key)) return null;
    at = at[key] ?? null;
  }
  return at;
}

function getText(from: Json | undefined, ...path: readonly string[]): string | null {
  const value = getValue(from, ...path);
  return typeof value === 'string' && value.trim() !== '' ? value : null;
}
