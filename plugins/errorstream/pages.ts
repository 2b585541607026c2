import joi from 'joi';
import { Reply, View, type HttpRequest, type PageSpec, type PanelSpec } from '../../kernel/contract.js';
import type { ErrorGroup, ErrorGroupQuery, ErrorGroups } from '../../ports/domain/bugs.js';
import { toHeadline } from '../../lib/text/error-title.js';
import { grouped } from '../../lib/text/grouped.js';
import { buildFirstErrorCommand } from './first-error.js';
import { getIgnoreLink, MUTE_FORM } from './rules/ignore-link.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { warned } from '../../ports/store/left-out.js';

export interface ErrorPageDeps {
  groups: ErrorGroups;
  projects: Pick<ProjectDirectory, 'list'>;
  clock: { iso(): string };
  /** `app.base_url`, available once the server listens. */
  baseUrl: () => string;
}

const LEVELS = ['fatal', 'error', 'warning'] as const;
const STATUSES = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'] as const;
const SORTS = [
  { value: 'last_seen_at', label: 'Last seen' },
  { value: 'created_at', label: 'Newest' },
  { value: 'hit_count', label: 'Most hits' },
  { value: 'people', label: 'Most people' },
  { value: 'severity', label: 'Severity' },
] as const;
const HOURS = 24;

const nothing = joi.any().valid('').strip();
const list = (of: joi.StringSchema): joi.ArraySchema => joi.array().items(of, nothing).max(50);
const word = (...values: readonly string[]): joi.StringSchema =>
  joi
    .string()
    .valid(...values)
    .empty('');
const text = (max: number): joi.StringSchema => joi.string().max(max).empty('');

const query = joi.object({
  q: text(500),
  project: list(joi.string().max(64)),
  environment: list(joi.string().max(200)),
  error_level: list(joi.string().valid(...LEVELS)),
  status: list(joi.string().valid(...STATUSES)),
  regression: word('true'),
  muted: word('true', 'any'),
  sort: word(...SORTS.map(({ value }) => value)),
  cursor: text(20_000),
});

const MARK = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const liveQuery = query.keys({ since: joi.string().pattern(MARK).required() });

interface Query {
  q?: string;
  project?: string[];
  environment?: string[];
  error_level?: (typeof LEVELS)[number][];
  status?: (typeof STATUSES)[number][];
  regression?: 'true';
  muted?: 'true' | 'any';
  sort?: ErrorGroupQuery['sort'];
  cursor?: string;
}

function groupQuery({
  q,
  project,
  environment,
  error_level,
  status,
  regression,
  muted,
  sort,
  cursor,
}: Query): ErrorGroupQuery {
  return {
    q,
    project,
    environment,
    error_level,
    status,
    regression: regression === undefined ? undefined : [true],
    muted: muted === 'any' ? undefined : [muted === 'true'],
    sort,
    cursor: cursor ?? null,
  };
}

function searchOf({ cursor: _page, ...given }: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, one);
  }
  return search.toString();
}

/** A tab keeps the other filters, but not the cursor, which belongs to one list. */
function tabs(given: Query): object[] {
  const views = [
    { label: 'Active', muted: undefined },
    { label: 'Muted', muted: 'true' },
    { label: 'All', muted: 'any' },
  ] as const;
  return views.map(({ label, muted }) => {
    const { muted: _now, ...rest } = given;
    const search = searchOf(muted === undefined ? rest : { ...rest, muted });
    return { label, href: search === '' ? '/errors' : `/errors?${search}`, active: given.muted === muted };
  });
}

function found(shown: number, total: number | null): string {
  if (total === null) return `${shown} groups shown, more follow`;
  const groups = total === 1 ? '1 group' : `${grouped(total)} groups`;
  return shown < total ? `${shown} of ${groups}` : groups;
}

interface Row extends ErrorGroup, ReturnType<typeof toHeadline> {
  /** URL of the mute form; null if it cannot be muted or already is. */
  mute: string | null;
}

/** Assigned to the page's own group, because spreading so many fields is expensive. */
const rowOf = (group: ErrorGroup): Row =>
  Object.assign(group, toHeadline(group.title, group.exception_class), { mute: getIgnoreLink(group) });

async function listView({ groups, projects, clock, baseUrl }: ErrorPageDeps, request: HttpRequest): Promise<View> {
  const given = request.query as Query;
  const from = clock.iso();
  const asked = groupQuery(given);
  const [changes, page, beside, known] = await Promise.all([
    groups.changes(asked, null),
    groups.list(asked),
    groups.filterCounts(asked),
    projects.list(),
  ]);
  const { sort, cursor, muted, ...filters } = given;
  const total = cursor === undefined && page.next === null ? page.items.length : await groups.count(asked);
  return new View('errors', {
    items: page.items.map(rowOf),
    mute: MUTE_FORM,
    spark_top: Math.max(1, ...page.items.flatMap(({ trend }) => trend)),
    beside,
    next_cursor: page.next,
    found: found(page.items.length, total && Math.max(total, page.items.length)),
    tabs: tabs(given),
    filtered: muted !== undefined || Object.values(filters).some((value) => value !== undefined && value.length > 0),
    more_open: sort !== undefined || Boolean(filters.environment?.length) || filters.regression !== undefined,
    live: { mark: changes.mark, query: searchOf(given), from, first: cursor === undefined },
    levels: LEVELS,
    statuses: STATUSES,
    sorts: SORTS,
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    command: buildFirstErrorCommand(baseUrl()),
    ...warned(page),
  });
}

export function buildErrorPages(deps: ErrorPageDeps): PageSpec[] {
  return [
    {
      path: '/errors',
      title: 'Errors',
      nav: {
        section: 'work',
        label: 'Errors',
        icon: 'errors',
        order: 20,
        also: ['exceptions', 'crashes', 'events', 'groups'],
      },
      access: { session: 'member' },
      projectQuery: 'project',
      input: { query },
      handle: (request) => listView(deps, request),
    },
    {
      path: '/errors/live',
      title: 'Errors',
      access: { session: 'member' },
      input: { query: liveQuery },
      handle: async (request) => {
        const { since, ...given } = request.query;
        const { items, mark } = await deps.groups.changes(groupQuery(given), String(since));
        return new Reply(200, {
          mark,
          rows: items.map(
            ({ ref, fits, created_at, hit_count, hour_count, last_seen_at, status, regression, muted }) => {
              return { ref, fits, created_at, hit_count, hour_count, last_seen_at, status, regression, muted };
            },
          ),
        });
      },
    },
  ];
}

export function buildErrorPanels({ groups }: ErrorPageDeps): PanelSpec[] {
  return [
    {
      id: 'errorstream.hours',
      kind: 'trend',
      order: 10,
      load: async () => {
        const sums = await groups.perHour(HOURS);
        if (sums === null) return null;
        const total = sums.counts.reduce((a, b) => a + b, 0);
        return new View('panel-hours', { ...sums, total, last: sums.counts.at(-1) });
      },
    },
  ];
}
