import type { CollectionSpec } from '../../ports/store/index.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'releases',
    search: ['product', 'version'],
    indexes: [
      { fields: ['published_at'] },
      { fields: ['product', 'published_at'] },
      { fields: ['product', 'channel', 'published_at'] },
      { fields: ['updated_at'] },
      { fields: ['product', 'updated_at'] },
      // Only while work is pending, so this index stays small.
      { fields: ['open_at'] },
      { fields: ['rolling'] },
    ],
  },
  // The manifest of 200,000 files exceeds the size limit of a document.
  { name: 'manifests', indexes: [{ fields: ['release_id'] }] },
  { name: 'publishes', indexes: [{ fields: ['began_at'] }] },
  { name: 'statements', indexes: [{ fields: ['product'] }, { fields: ['updated_at'] }, { fields: ['issued_at'] }] },
  { name: 'leases', indexes: [] },
  { name: 'access', indexes: [] },
];
