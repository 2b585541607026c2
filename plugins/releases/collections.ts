/** The collections and the indexes that every query of this plugin uses. */
import type { CollectionSpec } from '../../ports/store.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  {
    name: 'releases',
    lookups: [
      { path: 'product', by: 'text' },
      { path: 'version', by: 'text' },
    ],
    indexes: [
      { fields: ['published_at'] },
      { fields: ['product', 'published_at'] },
      { fields: ['product', 'channel', 'published_at'] },
      { fields: ['updated_at'] },
      { fields: ['product', 'updated_at'] },
      // Present while something is left to do: the index stays as small as that.
      { fields: ['open_at'] },
      { fields: ['rolling'] },
    ],
  },
  // Texts of manifests in parts, since a document has a limit that a manifest of 200,000 files passes.
  { name: 'manifests', indexes: [{ fields: ['release_id'] }] },
  { name: 'publishes', indexes: [{ fields: ['began_at'] }] },
  { name: 'statements', indexes: [{ fields: ['product'] }, { fields: ['updated_at'] }, { fields: ['issued_at'] }] },
  { name: 'leases', indexes: [] },
  // One document: what the access files were made from, and what the self-test saw.
  { name: 'access', indexes: [] },
];
