/** /bugs: every item, with the filters in the address (contract 80). */
import { View, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import type { Waiting } from '../lists/board.js';
import { SORTS, type SortName } from '../lists/filters.js';
import { STATUSES } from '../items/transitions.js';
import { ACTION_GROUPS } from './bulk-actions.js';
import type { PageDeps } from './item.js';
import { bugsUrl, canonical, FILTERS, filtersOf, listQuery, type ListQuery } from './query.js';
import { viewTabs } from './views.js';

const SORT_LABELS: Record<SortName, string> = {
  last_seen_at: 'Last seen',
  created_at: 'Newest',
  updated_at: 'Last changed',
  severity: 'Severity',
  hit_count: 'Most hits',
};

/** Filters behind "More filters", which opens when one of them is set by hand. */
const RARE = [
  'environment',
  'error_level',
  'tag',
  'claimed_by',
  'assignee',
  'target_agent',
  'exception_class',
  'muted',
  'regression',
] as const;

interface Tab {
  label: string;
  /** Its filters; together with them nothing else is set. */
  query: string;
  count?: keyof Waiting;
}

/** What is open here is what an agent would be handed: muted items have a filter of their own. */
const TABS: readonly Tab[] = [
  { label: 'All', query: '' },
  { label: 'Open', query: 'status=open&muted=false', count: 'open' },
  { label: 'Critical', query: 'status=open&severity=critical&muted=false', count: 'critical' },
  { label: 'Regressed', query: 'status=open&regression=true&muted=false', count: 'regressed' },
  { label: 'Claimed', query: 'status=in_progress', count: 'in_progress' },
  { label: 'Needs info', query: 'status=needs_info', count: 'needs_info' },
  { label: 'Resolved', query: 'status=resolved', count: 'resolved' },
];

function tabs(now: string, counts: Waiting): (object & { active: boolean })[] {
  return TABS.map(({ label, query, count }) => ({
    label,
    href: bugsUrl(query),
    active: canonical(filtersOf(query) ?? {}) === now,
    count: count === undefined ? undefined : counts[count],
  }));
}

/** `37 items`, or the number on this page when more follow. */
function found(shown: number, paged: boolean, more: boolean): string {
  if (more) return `${shown} shown, more follow`;
  if (paged) return `${shown} shown, the last ones`;
  return shown === 1 ? '1 item' : `${shown} items`;
}

/** Reports one, so that an empty list is not a dead end. */
function firstReport(baseUrl: string): string {
  const item = JSON.stringify({ project: 'shop', title: 'Total is wrong with two vouchers', severity: 'high' });
  return [
    `curl ${baseUrl.replace(/\/$/, '')}/api/bugtracker/v1/report \\`,
    `  -H "Authorization: Bearer $AOS_TOKEN" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '${item}'`,
  ].join('\n');
}

export function listPages({
  services: { board, views },
  numbers,
  deps: { clock, projects },
  baseUrl,
}: PageDeps): PageSpec[] {
  return [
    {
      path: '/bugs',
      title: 'Bugs',
      nav: {
        section: 'work',
        label: 'Bugs',
        icon: 'bug',
        order: 10,
        badge: async () => (await board.open()) || null,
      },
      access: { session: 'member' },
      input: { query: listQuery },
      handle: async (request: HttpRequest) => {
        const given = request.query as ListQuery;
        const { sort, cursor, ...filters } = given;
        const now = canonical(filters);
        const from = clock.iso();
        const [changes, page, counts, known, saved, flow] = await Promise.all([
          board.changed(filters, null),
          board.rows(filters, { sort, cursor }),
          board.counts(),
          projects.list(),
          viewTabs(views, request, canonical(given)),
          numbers.read(),
        ]);
        const quick = tabs(now, counts);
        const named = [...quick, ...saved].some(({ active }) => active);
        const rare = RARE.some((name) => filters[name]?.length) && !named;
        return new View('bugs', {
          items: page.items,
          next_cursor: page.next,
          found: found(page.items.length, cursor !== undefined, page.next !== null),
          tabs: quick,
          saved,
          command: firstReport(baseUrl()),
          filtered: FILTERS.some((name) => filters[name]?.length),
          match: canonical(given),
          nameable: !named && canonical(given) !== '',
          flow: flow.sums.new + flow.sums.resolved + flow.sums.regressed > 0 ? flow : null,
          live: { query: now, mark: changes.mark, from, first: cursor === undefined },
          more_open: rare || (sort !== undefined && !named),
          statuses: STATUSES,
          sorts: SORTS.map((value) => ({ value, label: SORT_LABELS[value] })),
          projects: known.map(({ slug }) => slug),
          actions: ACTION_GROUPS,
        });
      },
    },
  ];
}
