import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { WHERE } from '../lists/facets.js';
import { actionPages } from './actions.js';
import { bulkPages } from './several/bulk.js';
import { groupingRulePages } from './grouping/rules.js';
import { itemView } from './item/view.js';
import { params, refOf, type PageDeps } from './shared/page-deps.js';
import { listPages } from './list.js';
import { alikePages } from './several/alike.js';
import { livePages } from './live.js';
import { newPages } from './new.js';
import { nextPages } from './next.js';
import { Reader } from './shared/reader.js';
import { runPages } from './several/runs.js';
import { tracePages } from './trace-text.js';
import { splitPages } from './splitting.js';
import { viewPages } from './views.js';

const cursor = joi.string().max(20_000).empty('');
const among = joi.array().items(joi.string().max(200)).max(20);
const query = joi.object({
  ...Object.fromEntries(WHERE.map((name) => [name, among])),
  occurrences: cursor,
  comments: cursor,
  activity: cursor,
  find: joi.string().max(500).allow(''),
  list: joi.string().max(8000).empty(''),
});

export function pages(given: Omit<PageDeps, 'reader'>): PageSpec[] {
  const page: PageDeps = { ...given, reader: new Reader(given.deps) };
  return [
    ...listPages(page),
    ...livePages(page),
    ...bulkPages(page),
    ...viewPages(page),
    ...newPages(page),
    ...nextPages(page),
    ...alikePages(page),
    ...splitPages(page),
    ...groupingRulePages(page),
    ...runPages(page),
    ...tracePages(page),
    {
      path: '/bugs/{ref}',
      title: 'Bugs',
      access: { session: 'member' },
      input: { params, query },
      handle: (request) => canonical(request) ?? itemView(page, request),
    },
    ...actionPages(page),
  ];
}

function canonical(request: HttpRequest): Redirect | null {
  const ref = refOf(request);
  const lower = ref.toLowerCase();
  return ref === lower ? null : new Redirect(`/bugs/${encodeURIComponent(lower)}`);
}
