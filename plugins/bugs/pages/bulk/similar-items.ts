/** Merges open items of the same class and file into this one, in the background. */
import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../../kernel/contract/index.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import { getListContext, toContextSuffix } from '../shared/list-context.js';
import { runOrShowAgain, getFormFields, type FormProblem } from '../shared/form.js';
import { refParamsSchema, getRef, type PageDeps } from '../shared/page-deps.js';

const MAX_NAMED_ITEMS = 20;

async function loadSimilarQuery(page: PageDeps, request: HttpRequest) {
  const { item } = await page.services.lists.getDetail(getRef(request), toBugCaller(request.principal));
  const query = page.reader.buildSimilarQuery(item);
  if (query === null || item.status === 'duplicate') throw notFound('similar issue');
  return { item, query };
}

async function buildView(page: PageDeps, request: HttpRequest, problem: Partial<FormProblem> = {}): Promise<View> {
  const { item, query } = await loadSimilarQuery(page, request);
  const [rows, count] = await Promise.all([
    page.services.board.listRows(query, { limit: MAX_NAMED_ITEMS + 1 }),
    page.reader.countSimilar(item),
  ]);
  const items = rows.items.filter(({ id }) => id !== item.id).slice(0, MAX_NAMED_ITEMS);
  const keep = toContextSuffix(getListContext(request));
  return new View('alike', {
    title: `Similar to ${item.ref}`,
    crumbs: [
      { label: 'Issues', href: '/bugs' },
      { label: item.ref, href: `/bugs/${item.ref}` },
      { label: 'Similar issues' },
    ],
    item,
    items,
    count,
    more: count - items.length,
    keep,
    ...problem,
  });
}

export function buildSimilarItemPages(page: PageDeps): PageSpec[] {
  const shared = {
    path: '/bugs/{ref}/alike',
    title: 'Issues',
    access: { session: 'member' },
    input: { params: refParamsSchema, query: joi.object({ list: joi.string().max(8000).empty('') }) },
  } as const;
  return [
    { ...shared, handle: (request) => buildView(page, request) },
    {
      ...shared,
      method: 'POST',
      handle: (request) =>
        runOrShowAgain(
          'alike',
          request,
          async () => {
            const { item, query } = await loadSimilarQuery(page, request);
            const reason = getFormFields(request)['reason']?.trim();
            const back = `/bugs/${item.ref}${toContextSuffix(getListContext(request))}`;
            const says = { does: 'Merge', done: `merged into ${item.ref}`, back };
            const set = { status: 'duplicate', duplicate_of: item.ref, ...(reason && { reason }) } as const;
            const caller = toBugCaller(request.principal);
            const run = await page.services.bulkRuns.start({ query, except: item.id, set, says }, caller);
            return new Redirect(`/bugs/bulk/runs/${run.id}`);
          },
          (problem) => buildView(page, request, problem),
        ),
    },
  ];
}
