import type { CollectionSpec } from '../../ports/store/index.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'monitors',
    search: ['source', 'name'],
    indexes: [
      { fields: ['source'] },
      { fields: ['state', 'source'] },
      { fields: ['state', 'last_state_change_utc'] },
      { fields: ['parent_source', 'source'] },
      { fields: ['project', 'source'] },
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
