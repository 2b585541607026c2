/** The query of a list as a filter of the store (contract 20, endpoints). Repeated values are alternatives. Pure. */
import type { Filter, Scalar, Sort } from '../../../ports/store.js';

export const SORTS = ['created_at', 'updated_at', 'last_seen_at', 'severity', 'hit_count'] as const;
export type SortName = (typeof SORTS)[number];

export interface ItemQuery {
  project?: string[];
  type?: string[];
  status?: string[];
  severity?: string[];
  error_level?: string[];
  environment?: string[];
  exception_class?: string[];
  target_agent?: string[];
  tag?: string[];
  muted?: boolean[];
  regression?: boolean[];
  claimed_by?: string[];
  commit_sha?: string[];
  file_path?: string[];
  push_id?: string[];
  q?: string[];
}

const PLAIN = [
  'project',
  'type',
  'status',
  'severity',
  'error_level',
  'environment',
  'exception_class',
  'target_agent',
  'muted',
  'regression',
  'commit_sha',
  'file_path',
  'push_id',
] as const;

const oneOf = (values: readonly Scalar[]): Filter[string] => (values.length === 1 ? values[0] : { in: values });

export function filterOf(query: ItemQuery): Filter {
  const filter: Filter = {};
  for (const field of PLAIN) {
    const values = query[field];
    if (values !== undefined && values.length > 0) filter[field] = oneOf(values);
  }
  if (query.claimed_by?.length) filter['claim.agent'] = oneOf(query.claimed_by);
  if (query.tag?.length)
    filter['tags'] = query.tag.length === 1 ? { has: query.tag[0] as string } : { has_any: query.tag };
  const words = (query.q ?? []).map((q) => q.toLowerCase()).filter((q) => q !== '');
  if (words.length === 1) filter['search_text'] = { contains: words[0] as string };
  else if (words.length > 1) filter.or = words.map((contains) => ({ search_text: { contains } }));
  return filter;
}

export function sortOf(name: SortName = 'last_seen_at', order: 'asc' | 'desc' = 'desc'): Sort {
  return [[name === 'severity' ? 'severity_rank' : name, order]];
}
