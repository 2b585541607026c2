/**
 * The list submits the selection, and a page asks for values; a single form works without scripts.
 */
import {
  Redirect,
  View,
  getTimeZone,
  type HttpRequest,
  type PageResult,
  type PageSpec,
} from '../../../../kernel/contract/index.js';
import { invalid, ServiceError } from '../../../../kernel/errors.js';
import type { Item } from '../../../../ports/domain/bugs.js';
import type { Json } from '../../../../ports/store/index.js';
import { MAX_IDS, MAX_MATCHES, type BulkEditResult } from '../../editing/bulk-edits.js';
import { toBugCaller, type BugCaller } from '../../caller.js';
import type { ItemEdit } from '../../item/edit.js';
import { isFinishingChange } from '../../editing/undo.js';
import { editBody } from '../../http/schemas.js';
import { findBulkAction, parseTags, type BulkAction } from './bulk-actions.js';
import { validateForm, getFieldValues, runOrShowAgain, getFormFields, type FormProblem } from '../shared/form.js';
import type { PageDeps } from '../shared/page-deps.js';
import type { ItemQuery } from '../../item/filters.js';
import { buildUndoPath } from './bulk-runs.js';
import {
  buildBugsUrl,
  toCanonicalQuery,
  parseFilters,
  toItemQuery,
  DEFAULT_FILTERS,
  type ListFilters,
} from '../shared/list-query.js';

const MAX_NAMED_ITEMS = 20;
const MAX_ASSIGNEE_SUGGESTIONS = 100;

interface BulkSelection {
  action: BulkAction;
  ids: string[];
  filter: ListFilters | null;
  match: string;
}

const redirectWithMessage = (message: string, match: string): Redirect =>
  new Redirect(buildBugsUrl(match), { tone: 'warning', message });

function parseSelection(request: HttpRequest): BulkSelection | Redirect {
  const typed = getFormFields(request);
  const given = parseFilters(typed['match'] ?? '');
  const match = toCanonicalQuery(given ?? DEFAULT_FILTERS);
  const action = findBulkAction(typed['action'] ?? '');
  if (action === undefined) return redirectWithMessage('Choose an action.', match);
  if (typed['scope'] === 'filter') {
    if (given === null) return redirectWithMessage('These filters aren’t valid. Nothing was changed.', match);
    const { sort: _order, ...filter } = given;
    return { action, ids: [], filter, match };
  }
  const ids = [...new Set(getFieldValues(request, 'ids'))];
  if (ids.length === 0) return redirectWithMessage('Select issues first.', match);
  if (ids.length > MAX_IDS) return redirectWithMessage(`Select at most ${MAX_IDS} issues.`, match);
  return { action, ids, filter: null, match };
}

const toStoreQuery = ({ deps, timezone }: PageDeps, { principal }: HttpRequest, filter: ListFilters): ItemQuery =>
  toItemQuery(filter, deps.clock.now(), getTimeZone(principal, timezone()));

async function startRun(
  { services }: PageDeps,
  request: HttpRequest,
  { action, match }: BulkSelection,
  query: ItemQuery,
  set: ItemEdit,
): Promise<Redirect> {
  const { does, done } = action;
  const says = { does, done, back: buildBugsUrl(match) };
  const { id } = await services.bulkRuns.start({ query, set, says }, toBugCaller(request.principal));
  return new Redirect(`/bugs/bulk/runs/${id}`);
}

async function loadTargets(
  page: PageDeps,
  request: HttpRequest,
  { ids, filter }: BulkSelection,
): Promise<{ items: Item[]; count: number }> {
  const { services, reader } = page;
  if (filter !== null) {
    const query = toStoreQuery(page, request, filter);
    const [rows, count] = await Promise.all([
      services.board.listRows(query, { limit: MAX_NAMED_ITEMS }),
      services.bulk.count(query, toBugCaller(request.principal)),
    ]);
    return { items: rows.items, count };
  }
  const items = await reader.findByIds(ids);
  return { items, count: items.length };
}

async function buildConfirmView(
  page: PageDeps,
  request: HttpRequest,
  wanted: BulkSelection,
  problem: Partial<FormProblem> = {},
): Promise<PageResult> {
  const { action, filter, match, ids } = wanted;
  const { items, count } = await loadTargets(page, request, wanted);
  if (count === 0) return redirectWithMessage('These issues no longer exist.', match);
  return new View('bulk', {
    title: `${action.does} ${count} ${count === 1 ? 'issue' : 'issues'}`,
    crumbs: [{ label: 'Issues', href: buildBugsUrl(match) }, { label: 'Bulk actions' }],
    action,
    count,
    batches: count > MAX_MATCHES,
    items: items.slice(0, MAX_NAMED_ITEMS),
    more: count - Math.min(items.length, MAX_NAMED_ITEMS),
    accounts: action.field === 'assignee' ? await page.deps.accounts.listUsernames(MAX_ASSIGNEE_SUGGESTIONS) : [],
    claimed: items.filter(({ claim }) => claim !== null).length,
    ids: filter === null ? ids : [],
    scope: filter === null ? 'ids' : 'filter',
    match,
    back: buildBugsUrl(match),
    ...problem,
  });
}

function parseEdit(request: HttpRequest, action: BulkAction): ItemEdit {
  const typed = getFormFields(request);
  const text = (name: string): string => typed[name]?.trim() ?? '';
  const set: Record<string, Json> = { ...(action.set as Record<string, Json>) };
  if (action.field === 'tags') set['tags'] = parseTags(text('tags'));
  else if (action.field === 'target_agent' || action.field === 'assignee')
    set[action.field] = text(action.field) || null;
  else if (action.field !== undefined && text(action.field) !== '') set[action.field] = text(action.field);
  if (action.field === 'duplicate_of' && text('duplicate_of') === '') throw invalid({ duplicate_of: 'is required' });
  if (text('reason') !== '') set['reason'] = text('reason');
  if (typed['force'] === 'true') set['force'] = true;
  if ((action.reason === 'required' || set['force'] === true) && set['reason'] === undefined) {
    throw new ServiceError('reason_required', 'Enter a reason.', { fields: { reason: 'is required' } });
  }
  return validateForm(editBody, set) as ItemEdit;
}

/** Returns null unless it finishes items. */
async function findUndoUrl(
  { services: { bulkRuns } }: PageDeps,
  { action: { does, done }, match }: BulkSelection,
  set: ItemEdit,
  since: string,
  updated: number,
  caller: BugCaller,
): Promise<string | null> {
  if (!isFinishingChange(set) || updated === 0) return null;
  const says = { does, done, back: buildBugsUrl(match) };
  const { id } = await bulkRuns.recordCompleted({ query: {}, set, says }, caller, since, updated);
  return buildUndoPath(id);
}

async function buildResultView(
  page: PageDeps,
  { action, match }: BulkSelection,
  { results, updated }: BulkEditResult,
  undo: string | null,
): Promise<PageResult> {
  const failed = results.filter(({ ok }) => !ok);
  const summary = `${updated} ${updated === 1 ? 'issue' : 'issues'} ${action.done}`;
  if (failed.length === 0) {
    const action = undo === null ? {} : { action: { label: 'Undo', post: undo } };
    return new Redirect(buildBugsUrl(match), { tone: 'success', message: summary, ...action });
  }
  const shown = await page.reader.findByIds(results.map(({ id }) => id));
  const titles = new Map(shown.map(({ id, title }) => [id, title]));
  return new View('bulk-result', {
    title: 'Bulk actions',
    crumbs: [{ label: 'Issues', href: buildBugsUrl(match) }, { label: 'Bulk actions' }],
    message: `${updated === 0 ? 'Nothing was changed' : summary}; ${failed.length} of ${results.length} failed.`,
    tone: updated === 0 ? 'danger' : 'warning',
    rows: [...failed, ...results.filter(({ ok }) => ok)],
    titles: Object.fromEntries(titles),
    updated,
    done: action.done,
    undo,
    back: buildBugsUrl(match),
    match,
    action: action.value,
    again: failed.slice(0, MAX_IDS).map(({ id }) => id),
  }).withStatus(207);
}

function applyChange(page: PageDeps, request: HttpRequest, wanted: BulkSelection): Promise<PageResult> {
  const { action, ids, filter } = wanted;
  return runOrShowAgain(
    'bulk',
    request,
    async () => {
      const set = parseEdit(request, action);
      const expected_count = Number(getFormFields(request)['expected_count']);
      const query = filter === null ? null : toStoreQuery(page, request, filter);
      if (query !== null && expected_count > MAX_MATCHES) return startRun(page, request, wanted, query, set);
      const which = query === null ? { ids } : { filter: query, expected_count };
      const since = page.deps.clock.iso();
      const caller = toBugCaller(request.principal);
      const answer = await page.services.bulk.applyEdit({ ...which, set }, caller);
      return buildResultView(page, wanted, answer, await findUndoUrl(page, wanted, set, since, answer.updated, caller));
    },
    (problem) => buildConfirmView(page, request, wanted, problem),
  );
}

export function buildBulkChangePages(page: PageDeps): PageSpec[] {
  const shared = { method: 'POST', title: 'Issues', access: { session: 'member' } } as const;
  return [
    {
      ...shared,
      path: '/bugs/bulk/confirm',
      handle: async (request) => {
        const wanted = parseSelection(request);
        if (wanted instanceof Redirect) return wanted;
        // Undoable changes need no confirmation, unless the user has not seen the items.
        const direct = wanted.action.direct === true && wanted.filter === null;
        const there = direct && (await page.reader.findByIds(wanted.ids)).length > 0;
        return there ? applyChange(page, request, wanted) : buildConfirmView(page, request, wanted);
      },
    },
    {
      ...shared,
      path: '/bugs/bulk',
      handle: async (request) => {
        const wanted = parseSelection(request);
        return wanted instanceof Redirect ? wanted : applyChange(page, request, wanted);
      },
    },
  ];
}
