/** Every page of this plugin. */
import joi from 'joi';
import type { PageSpec } from '../../../kernel/contract.js';
import { actionPages, params } from './actions.js';
import { itemView, type PageDeps } from './item.js';
import { listPages } from './list.js';

const cursor = joi.string().max(20_000).empty('');

export function pages(page: PageDeps): PageSpec[] {
  return [
    ...listPages(page),
    {
      path: '/bugs/{ref}',
      title: 'Bugs',
      access: { session: 'member' },
      input: { params, query: joi.object({ occurrences: cursor, comments: cursor, activity: cursor }) },
      handle: (request) => itemView(page, request),
    },
    ...actionPages(page),
  ];
}
