/**
 * Bulk changes in two steps: the list submits the selection, and a confirmation page asks for
 * values. The list has a single form, so it works without scripts.
 */
import {
  Redirect,
  View,
  zoneOf,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../../kernel/contract.js';
import { invalid, ServiceError } from '../../../../kernel/errors.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store.js';
import { MAX_IDS, MAX_MATCHES, type BulkAnswer } from '../../editing/bulk.js';
import { toBugCaller, type BugCaller } from '../../caller.js';
import type { Edit } from '../../item/edit.js';
import { isFinishingChange } from '../../editing/undo.js';
import { editBody } from '../../http/schemas.js';
import { actionOf, tagsOf, type BulkAction } from './bulk-actions.js';
import { checked, fieldValues, orAgain, typedFields, type FormProblem } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';
import type { ItemQuery } from '../../item/filters.js';
import { undoPath } from './runs.js';
import { bugsUrl, canonical, filtersOf, itemQueryOf, DEFAULT_FILTERS, type Filters } from '../shared/query.js';

const NAMED = 20;
const MAX_NAMES = 100;

interface Wanted {
  action: BulkAction;
  ids: string[];
  filter: Filters | null;
  match: string;
}

const none = (message: string, match: string): Redirect => new Redirect(bugsUrl(match), { tone: 'warning', message });

function wantedOf(request: HttpRequest): Wanted | Redirect {
  const typed = typedFields(request);
  const given = filtersOf(typed['match'] ?? '');
  const match = canonical(given ?? DEFAULT_FILTERS);
  const action = actionOf(typed['action'] ?? '');
  if (action === undefined) return none('Choose what to do with the items.', match);
  if (typed['scope'] === 'filter') {
    if (given === null) return none('The filters of the list are not understood; nothing was changed.', match);
    const { sort: _order, ...filter } = given;
    return { action, ids: [], filter, match };
  }
  const ids = [...new Set(fieldValues(request, 'ids'))];
  if (ids.length === 0) return none('Select items first: tick the boxes before them.', match);
  if (ids.length > MAX_IDS) return none(`At most ${MAX_IDS} items can be selected at once.`, match);
  return { action, ids, filter: null, match };
}

const queryOf = ({ deps, timezone }: PageDeps, { principal }: HttpRequest, filter: Filters): ItemQuery =>
  itemQueryOf(filter, deps.clock.now(), zoneOf(principal, timezone()));

async function begun(
  { services }: PageDeps,
  request: HttpRequest,
  { action, match }: Wanted,
  query: ItemQuery,
  set: Edit,
): Promise<Redirect> {
  const { does, done } = action;
  const says = { does, done, back: bugsUrl(match) };
  const { id } = await services.bulkRuns.start({ query, set, says }, toBugCaller(request.principal));
  return new Redirect(`/bugs/bulk/runs/${id}`);
}

async function targets(
  page: PageDeps,
  request: HttpRequest,
  { ids, filter }: Wanted,
): Promise<{ items: Item[]; count: number }> {
  const { services, reader } = page;
  if (filter !== null) {
    const query = queryOf(page, request, filter);
    const [rows, count] = await Promise.all([
      services.board.rows(query, { limit: NAMED }),
      services.bulk.count(query, toBugCaller(request.principal)),
    ]);
    return { items: rows.items, count };
  }
  const items = await reader.named(ids);
  return { items, count: items.length };
}

async function askView(
  page: PageDeps,
  request: HttpRequest,
  wanted: Wanted,
  problem: Partial<FormProblem> = {},
): Promise<PageResult> {
  const { action, filter, match, ids } = wanted;
  const { items, count } = await targets(page, request, wanted);
  if (count === 0) return none('No such item any more.', match);
  return new View('bulk', {
    title: `${action.does} ${count} ${count === 1 ? 'item' : 'items'}`,
    crumbs: [{ label: 'Bugs', href: bugsUrl(match) }, { label: 'Change several' }],
    action,
    count,
    batches: count > MAX_MATCHES,
    items: items.slice(0, NAMED),
    more: count - Math.min(items.length, NAMED),
    accounts: action.field === 'assignee' ? await page.deps.accounts.names(MAX_NAMES) : [],
    claimed: items.filter(({ claim }) => claim !== null).length,
    ids: filter === null ? ids : [],
    scope: filter === null ? 'ids' : 'filter',
    match,
    back: bugsUrl(match),
    ...problem,
  });
}

function editOf(request: HttpRequest, action: BulkAction): Edit {
  const typed = typedFields(request);
  const text = (name: string): string => typed[name]?.trim() ?? '';
  const set: Record<string, Json> = { ...(action.set as Record<string, Json>) };
  if (action.field === 'tags') set['tags'] = tagsOf(text('tags'));
  else if (action.field === 'target_agent' || action.field === 'assignee')
    set[action.field] = text(action.field) || null;
  else if (action.field !== undefined && text(action.field) !== '') set[action.field] = text(action.field);
  if (action.field === 'duplicate_of' && text('duplicate_of') === '') throw invalid({ duplicate_of: 'is required' });
  if (text('reason') !== '') set['reason'] = text('reason');
  if (typed['force'] === 'true') set['force'] = true;
  if ((action.reason === 'required' || set['force'] === true) && set['reason'] === undefined) {
    throw new ServiceError('reason_required', 'Say why.', { fields: { reason: 'is required' } });
  }
  return checked(editBody, set) as Edit;
}

/** Returns the URL that undoes the change; null unless it finishes items. */
async function wayBack(
  { services: { bulkRuns } }: PageDeps,
  { action: { does, done }, match }: Wanted,
  set: Edit,
  since: string,
  updated: number,
  caller: BugCaller,
): Promise<string | null> {
  if (!isFinishingChange(set) || updated === 0) return null;
  const says = { does, done, back: bugsUrl(match) };
  const { id } = await bulkRuns.keep({ query: {}, set, says }, caller, since, updated);
  return undoPath(id);
}

async function resultView(
  page: PageDeps,
  { action, match }: Wanted,
  { results, updated }: BulkAnswer,
  undo: string | null,
): Promise<PageResult> {
  const failed = results.filter(({ ok }) => !ok);
  const said = `${updated} ${updated === 1 ? 'item is' : 'items are'} now ${action.done}`;
  if (failed.length === 0) {
    const action = undo === null ? {} : { action: { label: 'Undo', post: undo } };
    return new Redirect(bugsUrl(match), { tone: 'success', message: `${said}.`, ...action });
  }
  const shown = await page.reader.named(results.map(({ id }) => id));
  const titles = new Map(shown.map(({ id, title }) => [id, title]));
  return new View('bulk-result', {
    title: 'Change several',
    crumbs: [{ label: 'Bugs', href: bugsUrl(match) }, { label: 'Change several' }],
    message: `${updated === 0 ? 'Nothing was changed' : said}; ${failed.length} of ${results.length} could not be changed.`,
    tone: updated === 0 ? 'danger' : 'warning',
    rows: [...failed, ...results.filter(({ ok }) => ok)],
    titles: Object.fromEntries(titles),
    updated,
    done: action.done,
    undo,
    back: bugsUrl(match),
    match,
    action: action.value,
    again: failed.slice(0, MAX_IDS).map(({ id }) => id),
  }).withStatus(207);
}

function change(page: PageDeps, request: HttpRequest, wanted: Wanted): Promise<PageResult> {
  const { action, ids, filter } = wanted;
  return orAgain(
    'bulk',
    request,
    async () => {
      const set = editOf(request, action);
      const expected_count = Number(typedFields(request)['expected_count']);
      const query = filter === null ? null : queryOf(page, request, filter);
      if (query !== null && expected_count > MAX_MATCHES) return begun(page, request, wanted, query, set);
      const which = query === null ? { ids } : { filter: query, expected_count };
      const since = page.deps.clock.iso();
      const caller = toBugCaller(request.principal);
      const answer = await page.services.bulk.run({ ...which, set }, caller);
      return resultView(page, wanted, answer, await wayBack(page, wanted, set, since, answer.updated, caller));
    },
    (problem) => askView(page, request, wanted, problem),
  );
}

export function bulkPages(page: PageDeps): PageSpec[] {
  const shared = { method: 'POST', title: 'Bugs', access: { session: 'member' } } as const;
  return [
    {
      ...shared,
      path: '/bugs/bulk/confirm',
      handle: async (request) => {
        const wanted = wantedOf(request);
        if (wanted instanceof Redirect) return wanted;
        // Undoable changes need no confirmation, unless they apply to a filter whose items the user
        // has not seen.
        const direct = wanted.action.direct === true && wanted.filter === null;
        const there = direct && (await page.reader.named(wanted.ids)).length > 0;
        return there ? change(page, request, wanted) : askView(page, request, wanted);
      },
    },
    {
      ...shared,
      path: '/bugs/bulk',
      handle: async (request) => {
        const wanted = wantedOf(request);
        return wanted instanceof Redirect ? wanted : change(page, request, wanted);
      },
    },
  ];
}
