import joi from 'joi';
import { Reply, text, View, type HttpRequest, type PageSpec } from '../../kernel/contract/index.js';
import {
  listIssueTabs,
  MUTE_FORM,
  type ErrorGroup,
  type ErrorGroupQuery,
  type ErrorGroups,
} from '../../ports/domain/bugs.js';
import { buildIssueCsv, CSV_PAGE_SIZE, hasTrend } from '../../lib/issues/issue-rows.js';
import { toHeadline } from '../../lib/text/error-title.js';
import { formatInteger } from '../../lib/text/format-integer.js';
import { buildFirstErrorCommand } from './first-error.js';
import { getIgnoreLink } from './rules/ignore-link.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { pickWarnings } from '../../ports/store/skipped-documents.js';

export interface ErrorPageDeps {
  groups: ErrorGroups;
  projects: Pick<ProjectDirectory, 'list'>;
  clock: { iso(): string };
  /** Available once the server listens. */
  baseUrl: () => string;
}

const ERROR_LEVELS = ['fatal', 'error', 'warning'] as const;
const GROUP_STATUSES = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'] as const;
const SORT_OPTIONS = [
  { value: 'last_seen_at', label: 'Last seen' },
  { value: 'created_at', label: 'Newest' },
  { value: 'hit_count', label: 'Most events' },
  { value: 'people', label: 'Most users' },
  { value: 'severity', label: 'Severity' },
] as const;

const emptySchema = joi.any().valid('').strip();
const buildListSchema = (of: joi.StringSchema): joi.ArraySchema => joi.array().items(of, emptySchema).max(50);
const buildChoiceSchema = (...values: readonly string[]): joi.StringSchema =>
  joi
    .string()
    .valid(...values)
    .empty('');
const buildTextSchema = (max: number): joi.StringSchema => joi.string().max(max).empty('');

const querySchema = joi.object({
  q: buildTextSchema(500),
  project: buildListSchema(joi.string().max(64)),
  environment: buildListSchema(joi.string().max(200)),
  error_level: buildListSchema(joi.string().valid(...ERROR_LEVELS)),
  status: buildListSchema(joi.string().valid(...GROUP_STATUSES)),
  regression: buildChoiceSchema('true'),
  muted: buildChoiceSchema('true', 'any'),
  sort: buildChoiceSchema(...SORT_OPTIONS.map(({ value }) => value)),
  cursor: buildTextSchema(20_000),
  format: buildChoiceSchema('csv'),
});

const MARK_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const liveQuerySchema = querySchema.keys({ since: joi.string().pattern(MARK_PATTERN).required() });

interface ErrorListQuery {
  q?: string;
  project?: string[];
  environment?: string[];
  error_level?: (typeof ERROR_LEVELS)[number][];
  status?: (typeof GROUP_STATUSES)[number][];
  regression?: 'true';
  muted?: 'true' | 'any';
  sort?: ErrorGroupQuery['sort'];
  cursor?: string;
}

function toGroupQuery({
  q,
  project,
  environment,
  error_level,
  status,
  regression,
  muted,
  sort,
  cursor,
}: ErrorListQuery): ErrorGroupQuery {
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

function toSearchParams({ cursor: _page, ...given }: ErrorListQuery): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, one);
  }
  return search.toString();
}

/** The cursor belongs to one list. */
function buildTabs(given: ErrorListQuery): object[] {
  const views = [
    { label: 'Active', muted: undefined },
    { label: 'Muted', muted: 'true' },
    { label: 'All', muted: 'any' },
  ] as const;
  return views.map(({ label, muted }) => {
    const { muted: _now, ...rest } = given;
    const search = toSearchParams(muted === undefined ? rest : { ...rest, muted });
    return { label, href: search === '' ? '/errors' : `/errors?${search}`, active: given.muted === muted };
  });
}

function formatGroupCount(shown: number, total: number | null): string {
  if (total === null) return `${shown} errors shown, more available`;
  const groups = total === 1 ? '1 error' : `${formatInteger(total)} errors`;
  return shown < total ? `${shown} of ${groups}` : groups;
}

interface GroupRow extends ErrorGroup, ReturnType<typeof toHeadline> {
  /** Null if it cannot be muted or is. */
  mute: string | null;
  has_trend: boolean;
}

/** Spreading so many fields is expensive. */
const toRow = (group: ErrorGroup): GroupRow =>
  Object.assign(group, toHeadline(group.title, group.exception_class), {
    mute: getIgnoreLink(group),
    has_trend: hasTrend(group.trend),
  });

async function buildListView({ groups, projects, clock, baseUrl }: ErrorPageDeps, request: HttpRequest): Promise<View> {
  const given = request.query as ErrorListQuery;
  const from = clock.iso();
  const groupQuery = toGroupQuery(given);
  const [changes, page, filterCounts, known] = await Promise.all([
    groups.listChanges(groupQuery, null),
    groups.list(groupQuery),
    groups.getFilterCounts(groupQuery),
    projects.list(),
  ]);
  const { sort, cursor, muted, ...filters } = given;
  const total = cursor === undefined && page.next === null ? page.items.length : await groups.count(groupQuery);
  return new View('errors', {
    // The list's tabs take the place of the shell's.
    crumbs: [{ label: 'Issues' }],
    kinds: listIssueTabs('Errors'),
    csv: `/errors?${[toSearchParams(given), 'format=csv'].filter(Boolean).join('&')}`,
    back: encodeURIComponent(`/errors${toSearchParams(given) === '' ? '' : `?${toSearchParams(given)}`}`),
    items: page.items.map(toRow),
    mute: MUTE_FORM,
    spark_top: Math.max(1, ...page.items.flatMap(({ trend }) => trend)),
    beside: filterCounts,
    next_cursor: page.next,
    found: formatGroupCount(page.items.length, total && Math.max(total, page.items.length)),
    tabs: buildTabs(given),
    filtered: muted !== undefined || Object.values(filters).some((value) => value !== undefined && value.length > 0),
    more_open: sort !== undefined || Boolean(filters.environment?.length) || filters.regression !== undefined,
    live: { mark: changes.mark, query: toSearchParams(given), from, first: cursor === undefined },
    levels: ERROR_LEVELS,
    statuses: GROUP_STATUSES,
    sorts: SORT_OPTIONS,
    projects: known.map(({ slug, name }) => ({ value: slug, label: name })),
    command: buildFirstErrorCommand(baseUrl()),
    ...pickWarnings(page),
  });
}

async function exportList({ groups }: ErrorPageDeps, given: ErrorListQuery): Promise<Reply> {
  const query = toGroupQuery(given);
  const csv = await buildIssueCsv((cursor) => groups.list({ ...query, cursor, limit: CSV_PAGE_SIZE }));
  return text(csv, 'text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="errors.csv"');
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
        within: '/bugs',
        also: ['exceptions', 'crashes', 'events', 'groups'],
      },
      access: { session: 'member' },
      projectQuery: 'project',
      input: { query: querySchema },
      handle: (request) => {
        const { format, ...given } = request.query as ErrorListQuery & { format?: 'csv' };
        return format === undefined ? buildListView(deps, request) : exportList(deps, given);
      },
    },
    {
      path: '/errors/live',
      title: 'Errors',
      access: { session: 'member' },
      input: { query: liveQuerySchema },
      handle: async (request) => {
        const { since, ...given } = request.query;
        const { items, mark } = await deps.groups.listChanges(toGroupQuery(given), String(since));
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
