/** /errors: the groups of the error stream with their trend (contract 80), and the dashboard's chart of errors per hour. */
import joi from 'joi';
import { View, type HttpRequest, type PageSpec, type PanelSpec } from '../../kernel/contract.js';
import type { ErrorGroup, ErrorGroupQuery, ErrorGroups } from '../../ports/domain/bugs.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import { intakeCommand } from './first-error.js';

export interface PageDeps {
  groups: ErrorGroups;
  projects: Pick<ProjectDirectory, 'list'>;
  clock: { now(): number };
  /** `app.timezone` */
  timezone: string;
  /** `app.base_url`; known once the server listens */
  baseUrl: () => string;
}

const LEVELS = ['fatal', 'error', 'warning'] as const;
const STATUSES = ['open', 'in_progress', 'needs_info', 'resolved', 'closed', 'wont_fix', 'duplicate'] as const;
const SORTS = [
  { value: 'last_seen_at', label: 'Last seen' },
  { value: 'created_at', label: 'Newest' },
  { value: 'hit_count', label: 'Most hits' },
  { value: 'severity', label: 'Severity' },
] as const;
const HOURS = 24;
const HOUR_MS = 3_600_000;

const word = (...values: readonly string[]): joi.StringSchema =>
  joi
    .string()
    .valid(...values)
    .empty('');
const text = (max: number): joi.StringSchema => joi.string().max(max).empty('');

const query = joi.object({
  q: text(500),
  project: text(64),
  environment: text(200),
  error_level: word(...LEVELS),
  status: word(...STATUSES),
  muted: word('true', 'any'),
  sort: word(...SORTS.map(({ value }) => value)),
  cursor: text(20_000),
});

interface Query {
  q?: string;
  project?: string;
  environment?: string;
  error_level?: (typeof LEVELS)[number];
  status?: (typeof STATUSES)[number];
  /** Absent: without the muted ones. */
  muted?: 'true' | 'any';
  sort?: ErrorGroupQuery['sort'];
  cursor?: string;
}

const one = <T>(value: T | undefined): { list?: T[] } => (value === undefined ? {} : { list: [value] });

function groupQuery({ q, project, environment, error_level, status, muted, sort, cursor }: Query): ErrorGroupQuery {
  return {
    q,
    project: one(project).list,
    environment: one(environment).list,
    error_level: one(error_level).list,
    status: one(status).list,
    muted: muted === 'any' ? undefined : [muted === 'true'],
    sort,
    cursor: cursor ?? null,
  };
}

/** The other filters stay; a cursor belongs to the list that made it. */
function tabs({ cursor: _of_another_list, ...given }: Query): object[] {
  const views = [
    { label: 'Active', muted: undefined },
    { label: 'Muted', muted: 'true' },
    { label: 'All', muted: 'any' },
  ];
  return views.map(({ label, muted }) => {
    const { muted: _now, ...rest } = given;
    const search = new URLSearchParams({ ...rest, ...(muted === undefined ? {} : { muted }) }).toString();
    return { label, href: search === '' ? '/errors' : `/errors?${search}`, active: given.muted === muted };
  });
}

function found(items: readonly ErrorGroup[], next: string | null, cursor: string | undefined): string {
  if (next !== null) return `${items.length} groups shown, more follow`;
  if (cursor !== undefined) return `${items.length} groups shown, the last ones`;
  return items.length === 1 ? '1 group' : `${items.length} groups`;
}

/** A class with its namespace; the short one begins the title already. */
function rowOf(group: ErrorGroup): ErrorGroup & { qualified: string | null } {
  const name = group.exception_class ?? '';
  return { ...group, qualified: name !== '' && !group.title.startsWith(name) ? name : null };
}

/** `20 Nov, 09:00` for each hour of a chart, oldest first, the running one last. */
export function hourTitles(now: number, length: number, timeZone: string): string[] {
  const format = new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone,
  });
  const newest = Math.floor(now / HOUR_MS) * HOUR_MS;
  return Array.from({ length }, (_, i) => format.format(newest - (length - 1 - i) * HOUR_MS));
}

export function pages({ groups, projects, baseUrl }: PageDeps): PageSpec[] {
  return [
    {
      path: '/errors',
      title: 'Errors',
      nav: { section: 'work', label: 'Errors', icon: 'errors', order: 20 },
      access: { session: 'member' },
      input: { query },
      handle: async (request: HttpRequest) => {
        const given = request.query as Query;
        const [page, known] = await Promise.all([groups.list(groupQuery(given)), projects.list()]);
        const { sort: _order, cursor: _page, ...filters } = given;
        return new View('errors', {
          items: page.items.map(rowOf),
          next_cursor: page.next,
          found: found(page.items, page.next, given.cursor),
          tabs: tabs(given),
          filtered: Object.keys(filters).length > 0,
          levels: LEVELS,
          statuses: STATUSES,
          sorts: SORTS,
          projects: known.map(({ slug }) => slug),
          command: intakeCommand(baseUrl()),
        });
      },
    },
  ];
}

export function panels({ groups, clock, timezone }: PageDeps): PanelSpec[] {
  return [
    {
      id: 'errorstream.hours',
      kind: 'trend',
      order: 10,
      load: async () => {
        const sums = await groups.perHour(HOURS);
        if (sums === null) return null;
        const total = sums.counts.reduce((a, b) => a + b, 0);
        const titles = hourTitles(clock.now(), HOURS, timezone);
        return new View('panel-hours', { ...sums, total, titles, last: sums.counts.at(-1), first_hour: titles[0] });
      },
    },
  ];
}
