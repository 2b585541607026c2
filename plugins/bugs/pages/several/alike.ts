/**
 * /bugs/{ref}/alike: merges open items of the same class and file into this one, in the background.
 */
import joi from 'joi';
import { Redirect, View, type HttpRequest, type PageSpec } from '../../../../kernel/contract.js';
import { notFound } from '../../../../kernel/errors.js';
import { toBugCaller } from '../../caller.js';
import { contextOf, suffixOf } from '../shared/context.js';
import { orAgain, typedFields, type FormProblem } from '../shared/form.js';
import { params, refOf, type PageDeps } from '../shared/page-deps.js';

const NAMED = 20;

async function wanted(page: PageDeps, request: HttpRequest) {
  const { item } = await page.services.lists.detail(refOf(request), toBugCaller(request.principal));
  const query = page.reader.alikeQuery(item);
  if (query === null || item.status === 'duplicate') throw notFound('group of items like this one');
  return { item, query };
}

async function shown(page: PageDeps, request: HttpRequest, problem: Partial<FormProblem> = {}): Promise<View> {
  const { item, query } = await wanted(page, request);
  const [rows, count] = await Promise.all([
    page.services.board.rows(query, { limit: NAMED + 1 }),
    page.reader.alikeCount(item),
  ]);
  const items = rows.items.filter(({ id }) => id !== item.id).slice(0, NAMED);
  const keep = suffixOf(contextOf(request));
  return new View('alike', {
    title: `Items like ${item.ref}`,
    crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: item.ref, href: `/bugs/${item.ref}` }, { label: 'Alike' }],
    item,
    items,
    count,
    more: count - items.length,
    keep,
    ...problem,
  });
}

export function alikePages(page: PageDeps): PageSpec[] {
  const shared = {
    path: '/bugs/{ref}/alike',
    title: 'Bugs',
    access: { session: 'member' },
    input: { params, query: joi.object({ list: joi.string().max(8000).empty('') }) },
  } as const;
  return [
    { ...shared, handle: (request) => shown(page, request) },
    {
      ...shared,
      method: 'POST',
      handle: (request) =>
        orAgain(
          'alike',
          request,
          async () => {
            const { item, query } = await wanted(page, request);
            const reason = typedFields(request)['reason']?.trim();
            const back = `/bugs/${item.ref}${suffixOf(contextOf(request))}`;
            const says = { does: 'Merge', done: `duplicates of ${item.ref}`, back };
            const set = { status: 'duplicate', duplicate_of: item.ref, ...(reason && { reason }) } as const;
            const caller = toBugCaller(request.principal);
            const run = await page.services.bulkRuns.start({ query, except: item.id, set, says }, caller);
            return new Redirect(`/bugs/bulk/runs/${run.id}`);
          },
          (problem) => shown(page, request, problem),
        ),
    },
  ];
}
