/** /bugs: every item, with the filters in the address (contract 80). */
import joi from 'joi';
import { View, type HttpRequest, type PageSpec } from '../../../kernel/contract.js';
import type { Waiting } from '../board.js';
import { SORTS, type ItemQuery, type SortName } from '../filters.js';
import { STATUSES } from '../transitions.js';
import type { PageDeps } from './item.js';

/** What a form leaves empty is no filter. */
const nothing = joi.any().valid('').strip();
const list = (...items: joi.Schema[]): joi.ArraySchema =>
  joi
    .array()
    .items(...items, nothing)
    .max(50);
const words = (...values: string[]): joi.ArraySchema => list(joi.string().valid(...values));
const texts = (): joi.ArraySchema => list(joi.string().max(200));

const query = joi.object({
  q: list(joi.string().max(500)),
  status: words(...STATUSES),
  type: words('bug', 'feature', 'error'),
  severity: words('critical', 'high', 'medium', 'low'),
  project: texts(),
  tag: texts(),
  claimed_by: texts(),
  muted: list(joi.boolean()),
  regression: list(joi.boolean()),
  sort: joi
    .string()
    .valid(...SORTS)
    .empty(''),
  cursor: joi.string().max(20_000).empty(''),
});

type Query = ItemQuery & { sort?: SortName; cursor?: string };

const FILTERS = ['q', 'status', 'type', 'severity', 'project', 'tag', 'claimed_by', 'muted', 'regression'] as const;
/** Filters behind "More filters", which stand open when one of them is set by hand. */
const RARE = ['tag', 'claimed_by', 'muted', 'regression'] as const;

const SORT_LABELS: Record<SortName, string> = {
  last_seen_at: 'Last seen',
  created_at: 'Newest',
  updated_at: 'Last changed',
  severity: 'Severity',
  hit_count: 'Most hits',
};

interface Tab {
  label: string;
  /** Its filters; together with them nothing else is set. */
  query: Record<string, string>;
  count?: keyof Waiting;
}

/** What is open here is what an agent would be handed: muted items have a filter of their own. */
const TABS: readonly Tab[] = [
  { label: 'All', query: {} },
  { label: 'Open', query: { status: 'open', muted: 'false' }, count: 'open' },
  { label: 'Critical', query: { status: 'open', severity: 'critical', muted: 'false' }, count: 'critical' },
  { label: 'Regressed', query: { status: 'open', regression: 'true', muted: 'false' }, count: 'regressed' },
  { label: 'Claimed', query: { status: 'in_progress' }, count: 'in_progress' },
  { label: 'Needs info', query: { status: 'needs_info' }, count: 'needs_info' },
  { label: 'Resolved', query: { status: 'resolved' }, count: 'resolved' },
];

/** The first value of every filter, as the form's controls show it. */
export function chosenOf(given: Query): Record<string, string> {
  const set = FILTERS.map((name): [string, string] => [name, String(given[name]?.[0] ?? '')]);
  return Object.fromEntries(set.filter(([, value]) => value !== ''));
}

function tabs(chosen: Record<string, string>, counts: Waiting): (object & { active: boolean })[] {
  const now = new URLSearchParams(chosen);
  now.sort();
  return TABS.map(({ label, query: filters, count }) => {
    const own = new URLSearchParams(filters);
    own.sort();
    const text = new URLSearchParams(filters).toString();
    return {
      label,
      href: text === '' ? '/bugs' : `/bugs?${text}`,
      active: own.toString() === now.toString(),
      count: count === undefined ? undefined : counts[count],
    };
  });
}

/** `37 items`, or how many stand here when more follow. */
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

export function listPages({ services: { board }, deps: { projects }, baseUrl }: PageDeps): PageSpec[] {
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
      input: { query },
      handle: async (request: HttpRequest) => {
        const given = request.query as Query;
        const { sort, cursor, ...filters } = given;
        const [page, counts, known] = await Promise.all([
          board.rows(filters, { sort, cursor }),
          board.counts(),
          projects.list(),
        ]);
        const chosen = chosenOf(given);
        const views = tabs(chosen, counts);
        const rare = RARE.some((name) => chosen[name] !== undefined) && !views.some(({ active }) => active);
        return new View('bugs', {
          items: page.items,
          next_cursor: page.next,
          found: found(page.items.length, cursor !== undefined, page.next !== null),
          tabs: views,
          chosen,
          command: firstReport(baseUrl()),
          filtered: Object.keys(chosen).length > 0,
          more_open: rare || sort !== undefined,
          statuses: STATUSES,
          sorts: SORTS.map((value) => ({ value, label: SORT_LABELS[value] })),
          projects: known.map(({ slug }) => slug),
        });
      },
    },
  ];
}
