/** Repeated values are alternatives (contract 20, endpoints). */
import type { Severity } from '../../../ports/domain/bugs.js';
import type { Filter, Scalar, Sort } from '../../../ports/store/index.js';
import { checkProjectAccess, type BugCaller } from '../caller.js';
import { toHostMark, toVersionMark } from './place-marks.js';
import { normalizeSearchText, toSearchTerm } from '../text/search-text.js';
import { getSeverityRank } from './severity.js';

export const SORT_NAMES = ['created_at', 'updated_at', 'last_seen_at', 'severity', 'hit_count', 'people'] as const;
export type SortName = (typeof SORT_NAMES)[number];

export interface ItemQuery {
  project?: string[];
  type?: string[];
  status?: string[];
  severity?: string[];
  urgency?: string[];
  error_level?: string[];
  environment?: string[];
  exception_class?: string[];
  target_agent?: string[];
  tag?: string[];
  version?: string[];
  host?: string[];
  muted?: boolean[];
  regression?: boolean[];
  blocked?: boolean[];
  claimed_by?: string[];
  commit_sha?: string[];
  file_path?: string[];
  push_id?: string[];
  assignee?: string[];
  q?: string[];
  /** Items that `q` names by a `client_ref` (store/by-client-ref.ts); not part of the API. */
  named?: string[];
  first_seen_at?: TimeRange;
  last_seen_at?: TimeRange;
}

export interface TimeRange {
  gte?: string;
  lt?: string;
}

const EQUALITY_FIELDS = [
  'project',
  'type',
  'status',
  'error_level',
  'environment',
  'exception_class',
  'target_agent',
  'muted',
  'regression',
  'commit_sha',
  'file_path',
  'push_id',
  'assignee',
] as const;

const buildAnyOfFilter = (values: readonly Scalar[]): Filter[string] =>
  values.length === 1 ? values[0] : { in: values };

export function toItemFilter(query: ItemQuery): Filter {
  const filter: Filter = {};
  for (const field of EQUALITY_FIELDS) {
    const values = query[field];
    if (values !== undefined && values.length > 0) filter[field] = buildAnyOfFilter(values);
  }
  const severities = [...(query.severity ?? []), ...(query.urgency ?? [])];
  if (severities.length > 0) {
    filter['severity'] = buildAnyOfFilter(severities);
    // The rank is indexed, the name is not.
    filter['severity_rank'] = buildAnyOfFilter(severities.map((severity) => getSeverityRank(severity as Severity)));
  }
  if (query.first_seen_at !== undefined) filter['first_seen_at'] = { ...query.first_seen_at };
  // A first sighting is never after the indexed creation.
  if (query.first_seen_at?.gte !== undefined) filter['created_at'] = { gte: query.first_seen_at.gte };
  if (query.last_seen_at !== undefined) filter['last_seen_at'] = { ...query.last_seen_at };
  if (query.claimed_by?.length) {
    filter['claim.agent'] = buildAnyOfFilter(query.claimed_by);
    // Every claim has an indexed expiry; an index of agents would be written by every claim.
    filter['claim.expires_at'] = { gt: '' };
  }
  const [blocked, ...both] = query.blocked ?? [];
  if (blocked !== undefined && both.every((one) => one === blocked))
    filter['blocked.at'] = blocked ? { gt: '' } : { exists: false };
  if (query.tag?.length)
    filter['tags'] = query.tag.length === 1 ? { has: query.tag[0] as string } : { has_any: query.tag };
  if (query.version?.length) filter['version_marks'] = { has_any: query.version.map(toVersionMark) };
  if (query.host?.length) filter['host_marks'] = { has_any: query.host.map(toHostMark) };
  const searches = (query.q ?? []).flatMap(buildSearchFilters);
  if (query.named?.length) searches.push({ id: { in: query.named } });
  const [only] = searches;
  if (searches.length === 1) Object.assign(filter, only);
  else if (searches.length > 1) filter.or = searches;
  return filter;
}

/** @throws ServiceError insufficient_scope */
export function toCallerFilter(caller: BugCaller, query: ItemQuery): Filter {
  for (const project of query.project ?? []) checkProjectAccess(caller, project);
  return toItemFilter(caller.project === null ? query : { ...query, project: [caller.project] });
}

const ITEM_REF = /^[a-z0-9][a-z0-9._-]{0,63}-\d{1,10}$/;
/** An unmatched quote is an ordinary character. */
const QUERY_WORD = /"([^"]*)"|(\S+)/g;
/** Each word costs a scan of every text. */
const MAX_WORDS = 20;

export function splitQueryWords(q: string): string[] {
  const words = [...normalizeSearchText(q).matchAll(QUERY_WORD)].map(([, quoted, bare]) =>
    (quoted ?? bare ?? '').trim(),
  );
  return [...new Set(words.filter((word) => word !== ''))].slice(0, MAX_WORDS);
}

function buildSearchFilters(q: string): Filter[] {
  const words = splitQueryWords(q);
  const [only] = words;
  if (only === undefined) return [];
  const search: Filter = { search_text: { contains: words.map(toSearchTerm) } };
  return words.length === 1 && ITEM_REF.test(only) ? [search, { ref: only }] : [search];
}

export function toItemSort(name: SortName = 'last_seen_at', order: 'asc' | 'desc' = 'desc'): Sort {
  return [[name === 'severity' ? 'severity_rank' : name, order]];
}
