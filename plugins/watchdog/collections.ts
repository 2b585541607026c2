/** The collections and the indexes that every query of this plugin uses. */
import type { CollectionSpec } from '../../ports/store.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'monitors',
    // Monitors that go down together lie all over this index: half of the pages that an alarm would write at once.
    deferred: ['state'],
    lookups: [
      { path: 'source', by: 'text' },
      { path: 'name', by: 'text' },
    ],
    indexes: [
      { fields: ['source'] },
      { fields: ['state', 'source'] },
      { fields: ['parent_source', 'source'] },
      { fields: ['project', 'source'] },
      // A list that is worst first is a page of each state.
      { fields: ['project', 'state', 'source'], sparse: true },
      { fields: ['project', 'app_version'] },
      // Sparse: else an entry of null goes and comes, somewhere else in the index, with every alarm.
      { fields: ['suppressed_by'], sparse: true },
      { fields: ['next_check_at'], sparse: true },
      { fields: ['outbox_at'], sparse: true },
      { fields: ['created_by_token'], sparse: true },
    ],
  },
  { name: 'chunks', indexes: [{ fields: ['series', 'to'] }, { fields: ['to'] }] },
  { name: 'rollups', indexes: [{ fields: ['series', 'hour'] }, { fields: ['hour'] }] },
  {
    name: 'timeline',
    indexes: [{ fields: ['at'] }, { fields: ['source', 'at'] }, { fields: ['type', 'at'] }],
  },
  { name: 'runs', indexes: [{ fields: ['started_at'] }, { fields: ['result', 'finished_at'] }] },
  { name: 'leases', indexes: [] },
  { name: 'outages', indexes: [{ fields: ['to'] }] },
  { name: 'marks', indexes: [] },
];
