import joi from 'joi';
import { Redirect, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { PAGE_FILTER_NAMES } from '../lists/occurrence-facets.js';
import { buildItemActionPages } from './item-actions.js';
import { buildBulkChangePages } from './bulk/bulk-changes.js';
import { buildGroupingRulePages } from './grouping/rules.js';
import { buildItemView } from './item/item-view.js';
import { refParamsSchema, getRef, type PageDeps } from './shared/page-deps.js';
import { buildItemListPages } from './item-list.js';
import { buildSimilarItemPages } from './bulk/similar-items.js';
import { buildLiveListPages } from './live-list.js';
import { buildNewItemPages } from './new-item.js';
import { buildNextItemPages } from './next-item.js';
import { ItemPageReader } from './shared/item-reader.js';
import { buildBulkRunPages } from './bulk/bulk-runs.js';
import { buildTraceTextPages } from './trace-text.js';
import { buildMutePages } from './mute-item.js';
import { buildSplitPages } from './split-item.js';
import { buildSavedViewPages } from './saved-views.js';

const cursorSchema = joi.string().max(20_000).empty('');
const filterValuesSchema = joi.array().items(joi.string().max(200).allow('')).max(20);
const itemQuerySchema = joi.object({
  ...Object.fromEntries(PAGE_FILTER_NAMES.map((name) => [name, filterValuesSchema])),
  occurrences: cursorSchema,
  comments: cursorSchema,
  activity: cursorSchema,
  find: joi.string().max(500).allow(''),
  range: joi.string().valid('24h', '7d', '30d').empty(''),
  list: joi.string().max(8000).empty(''),
});

export function buildBugPages(given: Omit<PageDeps, 'reader'>): PageSpec[] {
  const page: PageDeps = { ...given, reader: new ItemPageReader(given.deps) };
  return [
    ...buildItemListPages(page),
    ...buildLiveListPages(page),
    ...buildBulkChangePages(page),
    ...buildSavedViewPages(page),
    ...buildNewItemPages(page),
    ...buildNextItemPages(page),
    ...buildSimilarItemPages(page),
    ...buildSplitPages(page),
    ...buildGroupingRulePages(page),
    ...buildBulkRunPages(page),
    ...buildTraceTextPages(page),
    ...buildMutePages(page),
    {
      path: '/bugs/{ref}',
      title: 'Bugs',
      access: { session: 'member' },
      input: { params: refParamsSchema, query: itemQuerySchema },
      handle: (request) => redirectToCanonical(request) ?? buildItemView(page, request),
    },
    ...buildItemActionPages(page),
  ];
}

function redirectToCanonical(request: HttpRequest): Redirect | null {
  const ref = getRef(request);
  const lower = ref.toLowerCase();
  return ref === lower ? null : new Redirect(`/bugs/${encodeURIComponent(lower)}`);
}
