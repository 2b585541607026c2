/**
 * The hot look-ups of the bug tracker as data: plans.test.ts asks SQLite for its plan of each,
 * rules.test.ts holds each against the declared indexes, because no test server shows MongoDB's
 * plans. `filter` names the paths that an index must begin with (equality or range), `sort` those
 * it must order. Look-ups by id need none.
 */
import type { Sort } from '../../../ports/store/index.js';

export interface HotQuery {
  collection: string;
  /** What asks. */
  for: string;
  filter: readonly string[];
  sort: Sort;
}

export const HOT_QUERIES: readonly HotQuery[] = [
  { collection: 'items', for: 'an item by its ref', filter: ['ref'], sort: [] },
  { collection: 'items', for: 'the default list', filter: [], sort: [['last_seen_at', 'desc']] },
  { collection: 'items', for: 'the list by creation', filter: [], sort: [['created_at', 'desc']] },
  {
    collection: 'items',
    for: 'the list by change, and the delta query',
    filter: ['updated_at'],
    sort: [['updated_at', 'asc']],
  },
  { collection: 'items', for: 'the list by events', filter: [], sort: [['hit_count', 'desc']] },
  { collection: 'items', for: 'the list by users', filter: [], sort: [['people', 'desc']] },
  { collection: 'items', for: 'the list by severity', filter: [], sort: [['severity_rank', 'desc']] },
  { collection: 'items', for: 'the list of a project', filter: ['project'], sort: [['last_seen_at', 'desc']] },
  { collection: 'items', for: 'a project by creation', filter: ['project'], sort: [['created_at', 'desc']] },
  { collection: 'items', for: 'a project by events', filter: ['project'], sort: [['hit_count', 'desc']] },
  { collection: 'items', for: 'a project by users', filter: ['project'], sort: [['people', 'desc']] },
  { collection: 'items', for: 'a project by severity', filter: ['project'], sort: [['severity_rank', 'desc']] },
  {
    collection: 'items',
    for: 'a project by change, and its delta query',
    filter: ['project', 'updated_at'],
    sort: [['updated_at', 'asc']],
  },
  { collection: 'items', for: 'a status by severity', filter: ['status'], sort: [['severity_rank', 'desc']] },
  {
    collection: 'items',
    for: 'a status of a project',
    filter: ['status', 'project'],
    sort: [['last_seen_at', 'desc']],
  },
  {
    collection: 'items',
    for: 'a status of a project by severity',
    filter: ['status', 'project'],
    sort: [['severity_rank', 'desc']],
  },
  { collection: 'items', for: 'a class of errors', filter: ['exception_class'], sort: [['last_seen_at', 'desc']] },
  { collection: 'items', for: 'items of a commit', filter: ['commit_sha'], sort: [] },
  { collection: 'items', for: 'items of a file', filter: ['file_path'], sort: [] },
  { collection: 'items', for: 'items of a push', filter: ['push_id'], sort: [] },
  { collection: 'items', for: 'items of an assignee', filter: ['assignee'], sort: [] },
  {
    collection: 'items',
    for: 'claim tokens in a text',
    filter: ['claim.expires_at'],
    sort: [['claim.expires_at', 'asc']],
  },
  { collection: 'items', for: 'the error stream', filter: ['type'], sort: [['last_seen_at', 'desc']] },
  { collection: 'items', for: 'the list of a status', filter: ['status'], sort: [['last_seen_at', 'desc']] },
  { collection: 'items', for: 'open items per project', filter: ['status', 'project'], sort: [] },
  { collection: 'items', for: 'action=next', filter: ['queue_key'], sort: [['queue_key', 'asc']] },
  {
    collection: 'items',
    for: 'action=next in a project',
    filter: ['project', 'queue_key'],
    sort: [['queue_key', 'asc']],
  },
  {
    collection: 'items',
    for: 'action=next of a type',
    filter: ['type', 'queue_key'],
    sort: [['queue_key', 'asc']],
  },
  {
    collection: 'items',
    for: 'action=next of a type in a project',
    filter: ['project', 'type', 'queue_key'],
    sort: [['queue_key', 'asc']],
  },
  {
    collection: 'items',
    for: 'action=next of items reserved for an agent',
    filter: ['target_agent', 'queue_key'],
    sort: [['queue_key', 'asc']],
  },
  { collection: 'items', for: 'items that a publish closes', filter: ['build_key'], sort: [['build_key', 'asc']] },
  {
    collection: 'items',
    for: 'expired leases',
    filter: ['claim.expires_at'],
    sort: [['claim.expires_at', 'asc']],
  },
  { collection: 'items', for: 'pending events', filter: ['outbox_at'], sort: [['outbox_at', 'asc']] },
  { collection: 'items', for: 'items muted by a rule', filter: ['muted_by_rule_id'], sort: [] },
  {
    collection: 'items',
    for: 'the severities of a status in a project',
    filter: ['status', 'project', 'severity_rank'],
    sort: [],
  },
  { collection: 'items', for: 'the duplicates of an item', filter: ['duplicate_of'], sort: [] },
  { collection: 'items', for: 'the errors of a version', filter: ['fault_key', 'fault_at'], sort: [] },
  { collection: 'items', for: 'items that a version fixes', filter: ['fix_key'], sort: [] },
  { collection: 'items', for: 'items closed by one publish', filter: ['closed_by'], sort: [] },
  { collection: 'keys', for: 'the grouping keys of an item', filter: ['item_id'], sort: [] },
  { collection: 'items', for: 'resolved blockers', filter: ['relink_at'], sort: [['relink_at', 'asc']] },
  {
    collection: 'items',
    for: 'items with an outdated search text',
    filter: ['words_at'],
    sort: [['words_at', 'asc']],
  },
  { collection: 'items', for: 'blocked items', filter: ['blocked.at'], sort: [['blocked.at', 'asc']] },
  { collection: 'links', for: 'links from an item', filter: ['from'], sort: [] },
  { collection: 'links', for: 'links to an item', filter: ['to'], sort: [] },
  { collection: 'links', for: 'links that a crash cut off', filter: ['open_at'], sort: [['open_at', 'asc']] },
  { collection: 'moves', for: 'merges that a crash cut off', filter: ['at'], sort: [['at', 'asc']] },
  { collection: 'moves', for: 'merges of an item under way', filter: ['item_id'], sort: [] },
  { collection: 'refs', for: 'references that a crash left open', filter: ['open_at'], sort: [['open_at', 'asc']] },
  { collection: 'refs', for: 'references that have expired', filter: ['expires_at'], sort: [] },
  { collection: 'items', for: 'items seen in the future', filter: ['last_seen_at'], sort: [] },
  { collection: 'occurrences', for: 'payloads that have expired', filter: ['received_at'], sort: [] },
  { collection: 'comments', for: 'the comments of an item', filter: ['item_id'], sort: [['created_at', 'desc']] },
  { collection: 'activity', for: 'the history of an item', filter: ['item_id'], sort: [['at', 'desc']] },
  { collection: 'activity', for: 'what happened per day', filter: ['stat'], sort: [] },
  { collection: 'views', for: 'the saved views of an account', filter: ['owner'], sort: [] },
];
