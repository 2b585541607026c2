/** The plugin's collections and their indexes. Every hot look-up of queries.ts finds one; a test compares the two. */
import type { CollectionSpec } from '../../ports/store.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'items',
    indexes: [
      { fields: ['ref'], unique: true },
      { fields: ['last_seen_at'] },
      { fields: ['created_at'] },
      { fields: ['updated_at'] },
      { fields: ['hit_count'] },
      { fields: ['severity_rank'] },
      { fields: ['project', 'last_seen_at'] },
      { fields: ['type', 'last_seen_at'] },
      { fields: ['status', 'last_seen_at'] },
      { fields: ['status', 'project'] },
      { fields: ['queue_key'] },
      { fields: ['build_key'] },
      { fields: ['claim.expires_at'] },
      { fields: ['outbox_at'] },
      { fields: ['muted_by_rule_id'] },
    ],
  },
  { name: 'texts', indexes: [] },
  { name: 'keys', indexes: [{ fields: ['item_id'] }] },
  { name: 'families', indexes: [] },
  { name: 'refs', indexes: [{ fields: ['open_at'] }, { fields: ['expires_at'] }] },
  { name: 'occurrences', indexes: [{ fields: ['item_id', 'received_at'] }, { fields: ['received_at'] }] },
  { name: 'comments', indexes: [{ fields: ['item_id', 'created_at'] }] },
  { name: 'activity', indexes: [{ fields: ['item_id', 'at'] }] },
  { name: 'counters', indexes: [] },
];
