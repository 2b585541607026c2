import type { CollectionSpec } from '../../../kernel/contract/index.js';
import type { Migration } from '../../../kernel/contract/index.js';
import { StoreConflict } from '../../../ports/store/index.js';
import { TEMPLATE_ID } from './documents.js';
import type { IgnoreRule } from './rule.js';

export const COLLECTIONS: readonly CollectionSpec[] = [
  { name: 'rules', indexes: [{ fields: ['deleted_at'] }, { fields: ['settle_at'] }, { fields: ['expires_at'] }] },
  { name: 'revisions', indexes: [] },
  { name: 'applies', indexes: [{ fields: ['state', 'beat_at'] }] },
];

/** MySQL, PostgreSQL, SQL Server, SQLite and MongoDB. */
export const DUPLICATE_KEY_PATTERN =
  "Duplicate entry '.*' for key|duplicate key value violates unique constraint|" +
  'Cannot insert duplicate key|UNIQUE constraint failed|E11000 duplicate key';

const buildTemplate = (now: string): IgnoreRule => ({
  id: TEMPLATE_ID,
  name: 'Duplicate entries in the database',
  match_type: 'regex',
  pattern: DUPLICATE_KEY_PATTERN,
  case_sensitive: false,
  project: null,
  environment: null,
  reason: 'The database rejects an existing value: expected if applications insert first and check later.',
  alarm_threshold: 100,
  enabled: false,
  expires_at: null,
  hit_count: 0,
  last_hit_at: null,
  is_template: true,
  created_by: 'system',
  created_at: now,
  updated_at: now,
  settle_at: null,
  deleted_at: null,
});

export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: 'duplicate-entry-template',
    async run(ctx) {
      try {
        await ctx.collection<IgnoreRule>('rules').insert(buildTemplate(ctx.clock.iso()));
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
      }
    },
  },
];
