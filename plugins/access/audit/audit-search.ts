/**
 * Newest first, by indexes. A name prefix is expanded to the matching names, whose pages are
 * merged; a prefix filter would scan or sort the log.
 */
import type { Collection } from '../../../kernel/contract/index.js';
import { mergePages } from '../../../ports/cursor.js';
import type { AuditEntry, AuditQuery } from '../../../ports/domain/audit.js';
import type { Filter, Page, Sort } from '../../../ports/store/index.js';

const NEWEST_FIRST_SORT: Sort = [['at', 'desc']];
/** Above it the log is scanned. */
const MAX_NAMES = 20;

/**
 * @param after cursor of an earlier page
 * @throws InvalidCursor
 */
export async function searchAuditLog(
  rows: Collection<AuditEntry>,
  query: AuditQuery,
  limit: number,
  after: string | null,
): Promise<Page<AuditEntry>> {
  const filter = buildFilter(query);
  const open = findPrefixField(query);
  const names = open === null ? null : await listNames(rows, open.field, open.prefix);
  if (open === null || names === null) return rows.find({ filter, sort: NEWEST_FIRST_SORT, limit, after });
  const each = names.map((name) =>
    rows.find({ filter: { ...filter, [open.field]: name }, sort: NEWEST_FIRST_SORT, limit: limit + 1, after }),
  );
  const found = await Promise.all(each);
  return mergePages(
    NEWEST_FIRST_SORT,
    found.map(({ items }) => items),
    limit,
  );
}

function findPrefixField({ actor, action, target }: AuditQuery): { field: 'actor' | 'action'; prefix: string } | null {
  if (target !== undefined) return null;
  if (actor !== undefined) return { field: 'actor', prefix: actor };
  return action?.endsWith('.') === true ? { field: 'action', prefix: action } : null;
}

/**
 * Returns the recorded values of `field` with this prefix, in order; null for more than
 * `MAX_NAMES`. Each takes one index seek.
 */
async function listNames(
  rows: Collection<AuditEntry>,
  field: 'actor' | 'action',
  prefix: string,
): Promise<string[] | null> {
  const names: string[] = [];
  const byName: Sort = [
    [field, 'asc'],
    ['at', 'asc'],
  ];
  for (;;) {
    const last = names.at(-1);
    // Two bounds would make a store scan all entries of a name.
    const filter: Filter = { [field]: last === undefined ? { gte: prefix } : { gt: last } };
    const [next] = (await rows.find({ filter, sort: byName, limit: 1 })).items;
    if (next === undefined || !next[field].startsWith(prefix)) return names;
    if (names.length === MAX_NAMES) return null;
    names.push(next[field]);
  }
}

function buildFilter({ actor, action, without, target, since, until }: AuditQuery): Filter {
  return {
    ...(actor !== undefined && { actor: { prefix: actor } }),
    ...(action !== undefined && { action: action.endsWith('.') ? { prefix: action } : action }),
    // A prefix ends before its last character's successor.
    ...(without !== undefined && { or: [{ action: { lt: without } }, { action: { gte: getUpperBound(without) } }] }),
    ...(target !== undefined && { target }),
    ...((since !== undefined || until !== undefined) && {
      at: { ...(since !== undefined && { gte: since }), ...(until !== undefined && { lt: until }) },
    }),
  };
}

/** @param prefix ends with a dot */
const getUpperBound = (prefix: string): string => `${prefix.slice(0, -1)}/`;
