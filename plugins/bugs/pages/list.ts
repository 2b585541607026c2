import { View, zoneOf, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import { toHeadline } from '../../../lib/text/error-title.js';
import { grouped } from '../../../lib/text/grouped.js';
import type { ItemAction } from '../../../ports/domain/bugs.js';
import { toBugCaller } from '../caller.js';
import type { Board, Waiting } from '../lists/board.js';
import { SORTS, type SortName } from '../item/filters.js';
import { STATUSES } from '../item/transitions.js';
import { ACTION_GROUPS } from './several/bulk-actions.js';
import type { FormProblem } from './shared/form.js';
import type { PageDeps } from './shared/page-deps.js';
import {
  BARE,
  bugsUrl,
  canonical,
  effective,
  FILTERS,
  filtersOf,
  itemQueryOf,
  listQuery,
  type Filters,
  type ListQuery,
} from './shared/query.js';
import { viewTabs } from './view-tabs.js';
import { warned } from '../../../ports/store/left-out.js';

const SORT_LABELS: Record<SortName, string> = {
  last_seen_at: 'Last seen',
  created_at: 'Newest',
  updated_at: 'Last changed',
  severity: 'Severity',
  hit_count: 'Most hits',
  people: 'Most people',
};

const RARE = [
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

const CHIPS = [
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
  ['target_agent', 'For agent'],
  ['regression', 'Regression'],
  ['muted', 'Muted'],
  ['first_seen', 'First seen in the last'],
  ['first_from', 'First seen from'],
  ['first_to', 'First seen until'],
  ['last_seen', 'Last seen in the last'],
  ['last_from', 'Last seen from'],
  ['last_to', 'Last seen until'],
] as const;

const SPANS = [
  { value: '1h', label: 'In the last hour' },
  { value: '24h', label: 'In the last 24 hours' },
  { value: '7d', label: 'In the last 7 days' },
  { value: '30d', label: 'In the last 30 days' },
];

interface Tab {
  label: string;
  query: string;
  count?: keyof Waiting;
}

/** "Open" means available to agents, so muted items have a separate filter. */
const TABS: readonly Tab[] = [
  { label: 'Open', query: 'muted=false&status=open', count: 'open' },
  { label: 'Critical', query: 'status=open&severity=critical&muted=false', count: 'critical' },
  { label: 'Regressed', query: 'status=open&regression=true&muted=false', count: 'regressed' },
  { label: 'Claimed', query: 'status=in_progress', count: 'in_progress' },
  { label: 'Needs info', query: 'status=needs_info', count: 'needs_info' },
  { label: 'Resolved', query: 'status=resolved', count: 'resolved' },
  { label: 'All', query: '' },
];

const CANONICAL = new Map(TABS.map(({ query }) => [query, canonical(filtersOf(query) ?? {})]));

type TabCounts = Partial<Record<keyof Waiting, number | null>>;

async function countsIn(board: Pick<Board, 'total'>, project: string): Promise<TabCounts> {
  const counted = TABS.flatMap(({ query, count }) => (count === undefined ? [] : [{ query, count }]));
  const totals = counted.map(async ({ query, count }) => {
    const filters = itemQueryOf({ ...filtersOf(query), project: [project] }, 0, 'UTC');
    return [count, await board.total(canonical({ ...filtersOf(query), project: [project] }), filters)] as const;
  });
  return Object.fromEntries(await Promise.all(totals));
}

function tabs(now: string, counts: TabCounts, me: string): (object & { active: boolean })[] {
  const mine: Tab = { label: 'Mine', query: new URLSearchParams({ assignee: me }).toString() };
  return [...TABS.slice(0, 1), mine, ...TABS.slice(1)].map(({ label, query, count }) => ({
    label,
    href: bugsUrl(query),
    active: (CANONICAL.get(query) ?? canonical(filtersOf(query) ?? {})) === now,
    count: count === undefined ? undefined : counts[count],
  }));
}

function chips(
  given: Filters & { sort?: SortName },
  names: ReadonlyMap<string, string>,
): { label: string; value: string; href: string }[] {
  const said = (name: string, value: string | boolean): string => {
    if (typeof value === 'boolean') return value ? 'yes' : 'no';
    return name === 'project' ? (names.get(value) ?? value) : value;
  };
  return CHIPS.flatMap(([name, label]) =>
    (given[name] ?? []).map((value) => ({
      label,
      value: said(name, value),
      href: bugsUrl(canonical({ ...given, [name]: given[name]?.filter((other) => other !== value) })),
    })),
  );
}

function found(shown: number, total: number | null): string {
  if (total === null) return `${shown} items shown, more follow`;
  const items = total === 1 ? '1 item' : `${grouped(total)} items`;
  return shown < total ? `${shown} of ${items}` : items;
}

function firstReport(baseUrl: string): string {
  const item = JSON.stringify({ project: 'shop', title: 'Total is wrong with two vouchers', severity: 'high' });
  return [
    `curl ${baseUrl.replace(/\/$/, '')}/api/bugtracker/v1/report \\`,
    `  -H "Authorization: Bearer $SVC_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${item}'`,
  ].join('\n');
}

export async function listView(
  { services: { board, views }, numbers, deps: { clock, projects }, actions, baseUrl, timezone }: PageDeps,
  request: HttpRequest,
  asked: ListQuery,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const chosen = request.chosenProject;
  const given = effective(asked, chosen !== undefined);
  const { sort, cursor, ...filters } = given;
  const now = canonical(filters);
  const own = chosen === undefined ? given : { ...given, project: undefined };
  const { sort: _order, cursor: _page, ...ownFilters } = own;
  const said = canonical(ownFilters);
  const from = clock.iso();
  const query = itemQueryOf(filters, clock.now(), zoneOf(request.principal, timezone()));
  const [changes, page, counts, beside, known, saved, flow] = await Promise.all([
    board.changed(query, null),
    board.rows(query, { sort, cursor }),
    chosen === undefined ? board.counts() : countsIn(board, chosen),
    board.countsBeside(now, query, ['status', 'severity', 'type', 'project']),
    projects.list(),
    viewTabs(views, request, { search: canonical(own), projects: filters.project ?? [] }),
    numbers.read(),
  ]);
  const all = cursor === undefined && page.next === null;
  const total = all ? page.items.length : now === BARE && counts.open ? counts.open : await board.total(now, query);
  const quick = tabs(said, counts, toBugCaller(request.principal).name);
  const named = [...quick, ...saved].some(({ active }) => active);
  const names = new Map(known.map(({ slug, name }) => [slug, name]));
  const muting: Partial<ItemAction> = actions().find(({ mute }) => mute !== undefined) ?? {};
  const rare = RARE.some((name) => filters[name]?.length) && !named;
  return new View('bugs', {
    items: page.items.map((item) =>
      // Assigned to the page's own row, because spreading so many fields is expensive.
      Object.assign(item, toHeadline(item.title, item.exception_class), { mute: muting.href?.(item) ?? null }),
    ),
    mute: muting.mute,
    spark_top: Math.max(1, ...page.items.flatMap(({ trend }) => trend)),
    beside,
    next_cursor: page.next,
    found: found(page.items.length, total && Math.max(total, page.items.length)),
    tabs: quick,
    query: { ...given, view: now === '' ? 'all' : undefined },
    chips: said === BARE ? [] : chips({ ...ownFilters, sort }, names),
    spans: SPANS,
    set: FILTERS.filter((name) => filters[name]?.length).length,
    saved,
    command: firstReport(baseUrl()),
    filtered: said !== '' && said !== BARE,
    // For an empty list, checks whether any items exist.
    any: page.items.length > 0 || (now === BARE && (await board.total('', {})) !== 0),
    match: canonical(given),
    nameable: !named && canonical(given) !== '',
    flow: chosen === undefined && flow.sums.new + flow.sums.resolved + flow.sums.regressed > 0 ? flow : null,
    live: { query: now, mark: changes.mark, from, first: cursor === undefined },
    more_open: rare || (sort !== undefined && !named),
    statuses: STATUSES,
    sorts: SORTS.map((value) => ({ value, label: SORT_LABELS[value] })),
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    actions: ACTION_GROUPS,
    ...warned(page),
    ...problem,
  });
}

export function listPages(page: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs',
      title: 'Bugs',
      nav: {
        section: 'work',
        label: 'Bugs',
        icon: 'bug',
        order: 10,
        also: ['items', 'issues', 'tickets', 'features', 'queue', 'tasks'],
        badge: async () => (await page.services.board.open()) || null,
      },
      access: { session: 'member' },
      projectQuery: 'project',
      input: { query: listQuery },
      handle: (request) => listView(page, request, request.query),
    },
  ];
}
