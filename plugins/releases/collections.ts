/** The plugin's collections, with the indexes that its queries use. */
import type { CollectionSpec } from '../../ports/store.js';

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
      // `open_at` exists only while work is left to do, so this index stays small.
      { fields: ['open_at'] },
      { fields: ['rolling'] },
    ],
  },
  // Manifests are stored in parts: the text of 200,000 files passes the size limit of a document.
  { name: 'manifests', indexes: [{ fields: ['release_id'] }] },
  { name: 'publishes', indexes: [{ fields: ['began_at'] }] },
  { name: 'statements', indexes: [{ fields: ['product'] }, { fields: ['updated_at'] }, { fields: ['issued_at'] }] },
  { name: 'leases', indexes: [] },
  // One document: what the access files were made from, and what the self-test saw.
  { name: 'access', indexes: [] },
];
