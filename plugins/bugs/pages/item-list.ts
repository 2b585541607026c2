import {
  getTimeZone,
  text,
  View,
  type HttpRequest,
  type PageSpec,
  type Reply,
} from '../../../kernel/contract/index.js';
import { buildIssueCsv, CSV_PAGE_SIZE, hasTrend } from '../../../lib/issues/issue-rows.js';
import { toHeadline } from '../../../lib/text/error-title.js';
import { formatInteger } from '../../../lib/text/format-integer.js';
import { listIssueTabs, MUTE_FORM } from '../../../ports/domain/bugs.js';
import { toBugCaller } from '../caller.js';
import type { ItemBoard, BoardCounts } from '../lists/item-board.js';
import { SORT_NAMES, type SortName } from '../item/filters.js';
import { STATUSES } from '../item/transitions.js';
import { ACTION_GROUPS } from './bulk/bulk-actions.js';
import type { FormProblem } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';
import {
  DEFAULT_LIST_QUERY,
  buildBugsUrl,
  toCanonicalQuery,
  applyDefaultFilters,
  FILTER_NAMES,
  parseFilters,
  toItemQuery,
  listQuerySchema,
  type ListFilters,
  type ItemListQuery,
} from './shared/list-query.js';
import { buildViewTabs } from './saved-view-tabs.js';
import { pickWarnings } from '../../../ports/store/skipped-documents.js';

const SORT_LABELS: Record<SortName, string> = {
  last_seen_at: 'Last seen',
  created_at: 'Newest',
  updated_at: 'Last changed',
  severity: 'Severity',
  hit_count: 'Most events',
  people: 'Most users',
};

const EXTRA_FILTERS = [
  'environment',
  'error_level',
  'tag',
  'version',
  'host',
  'claimed_by',
  'assignee',
  'target_agent',
  'exception_class',
  'file_path',
  'muted',
  'regression',
  'first_seen',
  'first_from',
  'first_to',
  'last_seen',
  'last_from',
  'last_to',
] as const;

const CHIP_LABELS = [
  ['q', 'Search'],
  ['status', 'Status'],
  ['severity', 'Severity'],
  ['type', 'Type'],
  ['project', 'Project'],
  ['environment', 'Environment'],
  ['error_level', 'Level'],
  ['exception_class', 'Class'],
  ['file_path', 'File'],
  ['tag', 'Tag'],
  ['version', 'Version'],
  ['host', 'Host'],
  ['assignee', 'Assignee'],
  ['claimed_by', 'Claimed by'],
  ['target_agent', 'Reserved for agent'],
  ['regression', 'Regression'],
  ['muted', 'Muted'],
  ['first_seen', 'First seen in the last'],
  ['first_from', 'First seen from'],
  ['first_to', 'First seen until'],
  ['last_seen', 'Last seen in the last'],
  ['last_from', 'Last seen from'],
  ['last_to', 'Last seen until'],
] as const;

const TIME_SPAN_OPTIONS = [
  { value: '1h', label: 'In the last hour' },
  { value: '24h', label: 'In the last 24 hours' },
  { value: '7d', label: 'In the last 7 days' },
  { value: '30d', label: 'In the last 30 days' },
];

interface ListTab {
  label: string;
  query: string;
  count?: keyof BoardCounts;
}

/** Muted items are not available to agents. */
const LIST_TABS: readonly ListTab[] = [
  { label: 'Open', query: 'muted=false&status=open', count: 'open' },
  { label: 'Critical', query: 'status=open&severity=critical&muted=false', count: 'critical' },
  { label: 'Regressed', query: 'status=open&regression=true&muted=false', count: 'regressed' },
  { label: 'Claimed', query: 'status=in_progress', count: 'in_progress' },
  { label: 'Needs info', query: 'status=needs_info', count: 'needs_info' },
  { label: 'Resolved', query: 'status=resolved', count: 'resolved' },
  { label: 'Muted', query: 'muted=true' },
  { label: 'All', query: '' },
];

type TabCounts = Partial<Record<keyof BoardCounts, number | null>>;

async function countProjectTabs(board: Pick<ItemBoard, 'countItems'>, project: string): Promise<TabCounts> {
  const counted = LIST_TABS.flatMap(({ query, count }) => (count === undefined ? [] : [{ query, count }]));
  const totals = counted.map(async ({ query, count }) => {
    const filters = toItemQuery({ ...parseFilters(query), project: [project] }, 0, 'UTC');
    return [
      count,
      await board.countItems(toCanonicalQuery({ ...parseFilters(query), project: [project] }), filters),
    ] as const;
  });
  return Object.fromEntries(await Promise.all(totals));
}

/** @param kind the tab of the list, which the views keep */
function buildTabs(
  now: string,
  kind: string | undefined,
  counts: TabCounts,
  me: string,
): (object & { active: boolean })[] {
  const mine: ListTab = { label: 'Mine', query: new URLSearchParams({ assignee: me }).toString() };
  return [...LIST_TABS.slice(0, 1), mine, ...LIST_TABS.slice(1)].map(({ label, query, count }) => {
    const search = toCanonicalQuery({ ...parseFilters(query), ...(kind !== undefined && { type: [kind] }) });
    return {
      label,
      href: buildBugsUrl(search),
      active: search === now,
      count: count === undefined ? undefined : counts[count],
    };
  });
}

function buildChips(
  given: ListFilters & { sort?: SortName },
  names: ReadonlyMap<string, string>,
): { label: string; value: string; href: string }[] {
  const formatValue = (name: string, value: string | boolean): string => {
    if (typeof value === 'boolean') return value ? 'Yes' : 'No';
    return name === 'project' ? (names.get(value) ?? value) : value;
  };
  return CHIP_LABELS.flatMap(([name, label]) =>
    (given[name] ?? []).map((value) => ({
      label,
      value: formatValue(name, value),
      href: buildBugsUrl(toCanonicalQuery({ ...given, [name]: given[name]?.filter((other) => other !== value) })),
    })),
  );
}

function formatItemCount(shown: number, total: number | null): string {
  if (total === null) return `${shown} issues shown, more available`;
  const items = total === 1 ? '1 issue' : `${formatInteger(total)} issues`;
  return shown < total ? `${shown} of ${items}` : items;
}

function buildFirstReportCommand(baseUrl: string): string {
  const item = JSON.stringify({ project: 'shop', title: 'Total is wrong with two vouchers', severity: 'high' });
  return [
    `curl ${baseUrl.replace(/\/$/, '')}/api/bugtracker/v1/report \\`,
    `  -H "Authorization: Bearer $SVC_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${item}'`,
  ].join('\n');
}

export async function buildListView(
  { services: { board, views }, numbers, deps: { clock, projects }, actions, baseUrl, timezone }: PageDeps,
  request: HttpRequest,
  requestedQuery: ItemListQuery,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const chosen = request.chosenProject;
  const given = applyDefaultFilters(requestedQuery, chosen !== undefined);
  const { sort, cursor, ...filters } = given;
  const now = toCanonicalQuery(filters);
  const own = chosen === undefined ? given : { ...given, project: undefined };
  const { sort: _order, cursor: _page, ...ownFilters } = own;
  const ownQuery = toCanonicalQuery(ownFilters);
  const here = buildBugsUrl(toCanonicalQuery(own));
  const kind = filters.type?.length === 1 ? filters.type[0] : undefined;
  const muting = actions().find(({ mutes }) => mutes === true);
  const from = clock.iso();
  const query = toItemQuery(filters, clock.now(), getTimeZone(request.principal, timezone()));
  const [changes, page, counts, filterCounts, known, saved, flow] = await Promise.all([
    board.listChangedGroups(query, null),
    board.listRows(query, { sort, cursor }),
    chosen === undefined ? board.getWaitingCounts() : countProjectTabs(board, chosen),
    board.countByFilter(now, query, ['status', 'severity', 'type', 'project']),
    projects.list(),
    buildViewTabs(views, request, { search: toCanonicalQuery(own), projects: filters.project ?? [] }),
    numbers.read(),
  ]);
  const all = cursor === undefined && page.next === null;
  const total = all
    ? page.items.length
    : now === DEFAULT_LIST_QUERY && counts.open
      ? counts.open
      : await board.countItems(now, query);
  const quick = buildTabs(ownQuery, kind, kind === undefined ? counts : {}, toBugCaller(request.principal).name);
  const named = [...quick, ...saved].some(({ active }) => active);
  const names = new Map(known.map(({ slug, name }) => [slug, name]));
  const rare = EXTRA_FILTERS.some((name) => filters[name]?.length) && !named;
  return new View('bugs', {
    items: page.items.map((item) =>
      // Spreading so many fields is expensive.
      Object.assign(item, toHeadline(item.title, item.exception_class), {
        mute: item.muted ? null : (muting?.href(item) ?? `/bugs/${item.ref}#mute`),
        has_trend: hasTrend(item.trend),
      }),
    ),
    mute: MUTE_FORM,
    // The list's tabs take the place of the shell's.
    crumbs: [{ label: 'Issues' }],
    kinds: listIssueTabs(kind === 'bug' ? 'Bugs' : kind === 'feature' ? 'Features' : 'All'),
    csv: `${here}${here.includes('?') ? '&' : '?'}format=csv`,
    back: encodeURIComponent(here),
    spark_top: Math.max(1, ...page.items.flatMap(({ trend }) => trend)),
    beside: filterCounts,
    next_cursor: page.next,
    found: formatItemCount(page.items.length, total && Math.max(total, page.items.length)),
    tabs: quick,
    query: { ...given, view: now === '' ? 'all' : undefined },
    chips: ownQuery === DEFAULT_LIST_QUERY ? [] : buildChips({ ...ownFilters, sort }, names),
    spans: TIME_SPAN_OPTIONS,
    set: FILTER_NAMES.filter((name) => filters[name]?.length).length,
    saved,
    command: buildFirstReportCommand(baseUrl()),
    filtered: ownQuery !== '' && ownQuery !== DEFAULT_LIST_QUERY,
    // Checks an empty list for any items.
    any: page.items.length > 0 || (now === DEFAULT_LIST_QUERY && (await board.countItems('', {})) !== 0),
    match: toCanonicalQuery(given),
    nameable: !named && toCanonicalQuery(given) !== '',
    flow: chosen === undefined && flow.sums.new + flow.sums.resolved + flow.sums.regressed > 0 ? flow : null,
    live: { query: now, mark: changes.mark, from, first: cursor === undefined },
    more_open: rare || (sort !== undefined && !named),
    statuses: STATUSES,
    sorts: SORT_NAMES.map((value) => ({ value, label: SORT_LABELS[value] })),
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    actions: ACTION_GROUPS,
    ...pickWarnings(page),
    ...problem,
  });
}

async function exportList(
  { services: { board }, deps: { clock }, timezone }: PageDeps,
  request: HttpRequest,
  requestedQuery: ItemListQuery,
): Promise<Reply> {
  const { sort, cursor: _page, ...filters } = applyDefaultFilters(requestedQuery, request.chosenProject !== undefined);
  const query = toItemQuery(filters, clock.now(), getTimeZone(request.principal, timezone()));
  const csv = await buildIssueCsv((cursor) => board.listRows(query, { sort, cursor, limit: CSV_PAGE_SIZE }));
  return text(csv, 'text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="issues.csv"');
}

export function buildItemListPages(page: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs',
      title: 'Issues',
      nav: {
        section: 'work',
        label: 'Issues',
        icon: 'bug',
        order: 10,
        tab: 'All',
        also: ['items', 'bugs', 'tickets', 'features', 'queue', 'tasks'],
        badge: async (project) => (await page.services.board.countAvailable(project)) || null,
      },
      access: { session: 'member' },
      projectQuery: 'project',
      input: { query: listQuerySchema },
      handle: (request) => {
        const { kind = [], format, ...given } = request.query as ItemListQuery & { kind?: string[]; format?: 'csv' };
        const query = kind.length === 0 ? given : { ...given, type: [...(given.type ?? []), ...kind] };
        return format === undefined ? buildListView(page, request, query) : exportList(page, request, query);
      },
    },
  ];
}
