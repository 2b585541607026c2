import joi from 'joi';
import { Redirect, getTimeZone, type PageSpec } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { toBugCaller } from '../caller.js';
import { getListContext, parseListContext, buildListUrl, toContextSuffix } from './shared/list-context.js';
import { refParamsSchema, getRef, type PageDeps } from './shared/page-deps.js';
import { toItemQuery } from './shared/list-query.js';

export function buildNextItemPages({
  services: { board, lists },
  deps: { items, clock },
  timezone,
}: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs/{ref}/next',
      title: 'Issues',
      access: { session: 'member' },
      input: { params: refParamsSchema, query: joi.object({ list: joi.string().max(8000).empty('') }) },
      handle: async (request) => {
        const { item } = await lists.getDetail(getRef(request), toBugCaller(request.principal));
        const doc = await items.get(item.id);
        if (doc === null) throw notFound('issue with this id');
        const context = getListContext(request);
        const { sort, ...filters } = parseListContext(context);
        const next = await board.findNext(
          toItemQuery(filters, clock.now(), getTimeZone(request.principal, timezone())),
          sort,
          doc,
        );
        if (next !== null) return new Redirect(`/bugs/${encodeURIComponent(next.ref)}${toContextSuffix(context)}`);
        return new Redirect(buildListUrl(context), {
          tone: 'info',
          message: `${item.ref} was the last issue in this list.`,
        });
      },
    },
  ];
}
