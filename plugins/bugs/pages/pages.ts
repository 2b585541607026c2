/** Every page of this plugin. */
import joi from 'joi';
import type { PageSpec } from '../../../kernel/contract.js';
import { actionPages, params } from './actions.js';
import { bulkPages } from './bulk.js';
import { itemView, type PageDeps } from './item.js';
import { listPages } from './list.js';
import { livePages } from './live.js';
import { Reader } from './reader.js';
import { viewPages } from './views.js';

const cursor = joi.string().max(20_000).empty('');
const query = joi.object({
  occurrences: cursor,
  comments: cursor,
  activity: cursor,
  find: joi.string().max(500).allow(''),
});

export function pages(given: Omit<PageDeps, 'reader'>): PageSpec[] {
  const page: PageDeps = { ...given, reader: new Reader(given.deps) };
  return [
    ...listPages(page),
    ...livePages(page),
    ...bulkPages(page),
    ...viewPages(page),
    {
      path: '/bugs/{ref}',
      title: 'Bugs',
      access: { session: 'member' },
      input: { params, query },
      handle: (request) => itemView(page, request),
    },
    ...actionPages(page),
  ];
}
