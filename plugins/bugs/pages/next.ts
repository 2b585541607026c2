/** /bugs/{ref}/next: redirects to the next item of the list that the item was opened from. */
import joi from 'joi';
import { Redirect, zoneOf, type PageSpec } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import { toBugCaller } from '../caller.js';
import { contextOf, listOf, listUrl, suffixOf } from './shared/context.js';
import { params, refOf, type PageDeps } from './shared/page-deps.js';
import { itemQueryOf } from './shared/query.js';

export function nextPages({ services: { board, lists }, deps: { items, clock }, timezone }: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs/{ref}/next',
      title: 'Bugs',
      access: { session: 'member' },
      input: { params, query: joi.object({ list: joi.string().max(8000).empty('') }) },
      handle: async (request) => {
        const { item } = await lists.detail(refOf(request), toBugCaller(request.principal));
        const doc = await items.get(item.id);
        if (doc === null) throw notFound('item with this id');
        const context = contextOf(request);
        const { sort, ...filters } = listOf(context);
        const next = await board.following(
          itemQueryOf(filters, clock.now(), zoneOf(request.principal, timezone())),
          sort,
          doc,
        );
        if (next !== null) return new Redirect(`/bugs/${encodeURIComponent(next.ref)}${suffixOf(context)}`);
        return new Redirect(listUrl(context), { tone: 'info', message: `${item.ref} was the last one of this list.` });
      },
    },
  ];
}
