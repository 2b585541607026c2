/** The collections and the indexes that every query of this plugin uses. */
import type { CollectionSpec } from '../../ports/store.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'monitors',
    tuning: {
      // Else an entry of null goes and comes, somewhere else in the index, with every alarm.
      sparse: [
        'project',
        'suppressed_by',
        'next_check_at',
        'outbox_at',
        'created_by_token',
        'maintenance_id',
        'silence_id',
        'group',
      ],
      // Monitors that go down together lie all over this index: half of the pages that an alarm would write at once.
      indexedLater: ['state'],
    },
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
      { fields: ['project', 'state', 'source'] },
      { fields: ['project', 'app_version'] },
      { fields: ['suppressed_by'] },
      { fields: ['next_check_at'] },
      { fields: ['outbox_at'] },
      { fields: ['created_by_token'] },
      { fields: ['maintenance_id'] },
      { fields: ['silence_id'] },
      { fields: ['group'] },
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
  { name: 'windows', indexes: [] },
  { name: 'addresses', indexes: [{ fields: ['source'] }] },
  { name: 'changes', indexes: [{ fields: ['at'] }, { fields: ['project', 'at'] }] },
  {
    name: 'incidents',
    indexes: [
      { fields: ['began_at'] },
      { fields: ['source', 'began_at'] },
      { fields: ['project', 'began_at'] },
      { fields: ['ended_at', 'began_at'] },
    ],
  },
];
