/** The plugin's collections and their indexes. A test lists the hot look-ups and checks each against these. */
import type { CollectionSpec } from '../../ports/store.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'items',
    indexes: [
      // An item by its ref.
      { fields: ['ref'], unique: true },
      // The leases of one agent, of which it may have so many.
      { fields: ['claim.slot'], unique: true },
      // The list as it opens, by creation, by change with the delta query, by hits, by people, by severity.
      { fields: ['last_seen_at'] },
      { fields: ['created_at'] },
      { fields: ['updated_at'] },
      { fields: ['hit_count'] },
      { fields: ['people'] },
      { fields: ['severity_rank'] },
      // The list of a project as it opens. In another order, and with any other filter: few are read and sorted, of
      // many the order above meets a page soon.
      { fields: ['project', 'last_seen_at'] },
      // The list of a status: those that are open may all be old.
      { fields: ['status', 'last_seen_at'] },
      // Counts beside the filters of a list, and of the open items of each project: they read nothing but this.
      { fields: ['status', 'project', 'severity_rank', 'type', 'error_level'] },
      // `action=next`, of all projects and of one.
      { fields: ['queue_key'] },
      { fields: ['project', 'queue_key'] },
    ],
    values: [
      // Filters of a list.
      'type',
      'environment',
      'error_level',
      'regression',
      'muted',
      'exception_class',
      'tags',
      'version_marks',
      'host_marks',
      'commit_sha',
      'file_path',
      'push_id',
      'assignee',
      'target_agent',
      // Items of which work is left: leases that may run out, and markers.
      'claim.expires_at',
      'held.at',
      'blocked.at',
      'relink_at',
      'words_at',
      'outbox_at',
      // Items that belong to something: a build, a rule, an item, a version, an act of publishing, a pull request.
      'build_key',
      'muted_by_rule_id',
      'duplicate_of',
      'fault_key',
      'closed_by',
      'pr_key',
    ],
    search: ['search_text'],
  },
  { name: 'texts', indexes: [] },
  { name: 'words', indexes: [], search: ['text'] },
  { name: 'keys', indexes: [{ fields: ['item_id'] }] },
  { name: 'families', indexes: [] },
  { name: 'floods', indexes: [] },
  { name: 'removals', indexes: [{ fields: ['open_at'] }, { fields: ['expires_at'] }] },
  { name: 'refs', indexes: [{ fields: ['open_at'] }, { fields: ['expires_at'] }] },
  {
    name: 'occurrences',
    // The occurrences of an item are found by their ids (`listSlotIds`).
    indexes: [{ fields: ['received_at'] }, { fields: ['late_at'] }],
    compressed: [
      'error_message',
      'exception_class',
      'error_level',
      'stack_trace',
      'environment',
      'app_version',
      'commit_sha',
      'file_path',
      'line_no',
      'host',
      'client_ref',
      'tags',
      'context',
      'breadcrumbs',
    ],
  },
  { name: 'comments', indexes: [{ fields: ['item_id', 'created_at'] }] },
  {
    name: 'activity',
    indexes: [{ fields: ['item_id', 'at'] }, { fields: ['stat'] }],
  },
  {
    name: 'links',
    indexes: [{ fields: ['from'] }, { fields: ['to'] }, { fields: ['open_at'] }],
  },
  { name: 'counters', indexes: [] },
  { name: 'moves', indexes: [{ fields: ['at'] }, { fields: ['item_id'] }] },
  { name: 'splits', indexes: [{ fields: ['at'] }] },
  { name: 'builds', indexes: [{ fields: ['project', 'published_at'] }, { fields: ['build_key'] }] },
  { name: 'commits', indexes: [], compressed: ['commits'] },
  { name: 'bulks', indexes: [{ fields: ['state', 'beat_at'] }, { fields: ['finished_at'] }] },
  { name: 'waiting', indexes: [{ fields: ['event'] }, { fields: ['project'] }, { fields: ['expires_at'] }] },
  // By project; the rules in memory are read whole.
  { name: 'rulelists', indexes: [] },
  { name: 'rulerevisions', indexes: [] },
  { name: 'views', indexes: [{ fields: ['owner'] }, { fields: ['shared'] }] },
];
