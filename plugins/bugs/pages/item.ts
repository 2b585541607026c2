/** /bugs/{ref}: one item with everything about it (contract 80). What it shows of reports came from outside. */
import { View, type HttpRequest } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { callerOf } from '../caller.js';
import type { Deps } from '../deps.js';
import type { Part } from '../discussion.js';
import type { Services } from '../services.js';
import { SEVERITIES } from '../severity.js';
import { lineOf, SOURCES, type Entry } from './activity.js';
import type { Problem } from './form.js';
import { hourTitles } from './hours.js';
import { movesFrom } from './moves.js';
import { firstFrameLine } from './trace.js';

const HOURS = 48;
const PAGE: Record<Part, number> = { occurrences: 5, comments: 50, activity: 20 };

export interface PageDeps {
  services: Services;
  deps: Pick<Deps, 'items' | 'clock' | 'projects'>;
  /** `app.timezone` */
  timezone: string;
  /** `app.base_url`, for the commands in empty states; known once the server listens */
  baseUrl: () => string;
}

export const refOf = (request: HttpRequest): string => request.params['ref'] ?? '';

/** A page of what belongs to the item, from the cursor in the query parameter of the same name. */
async function part(
  { services }: PageDeps,
  request: HttpRequest,
  name: Part,
): Promise<{ items: object[]; next: string | null; paged: boolean }> {
  const cursor = request.query[name];
  const after = typeof cursor === 'string' && cursor !== '' ? cursor : null;
  const caller = callerOf(request.principal);
  const page = await services.discussion.page(refOf(request), caller, name, { limit: PAGE[name], cursor: after });
  return { items: page.items, next: page.next_cursor, paged: after !== null };
}

const filled = (fact: { value?: unknown; url?: unknown; at?: unknown; badge?: unknown }): boolean =>
  [fact.value, fact.url, fact.at, fact.badge].some((v) => v !== undefined && v !== null && v !== '');

/** Where and how often; empty ones are left out. */
function facts(item: Item): object[] {
  return [
    { label: 'Project', value: item.project, href: `/projects/${item.project}` },
    { label: 'First seen', at: item.first_seen_at },
    { label: 'Last seen', at: item.last_seen_at },
    { label: 'Environment', value: item.environment },
    { label: 'First version', value: item.first_build, mono: true },
    { label: 'Last version', value: item.last_build, mono: true },
    { label: 'Fixed in version', value: item.resolved_in_build, mono: true },
    { label: 'Regressed in version', value: item.regressed_in_build, mono: true },
    { label: 'From older versions since', value: item.late_count > 0 ? item.late_count : null },
    { label: 'File', value: place(item), mono: true },
    { label: 'Commit', value: item.commit_sha, mono: true },
    { label: 'Push', value: item.push_id, mono: true },
    { label: 'Repository', url: item.repo_url },
    { label: 'For agent', value: item.target_agent },
    { label: 'Client reference', value: item.client_ref, mono: true },
    { label: 'Resolved', at: item.resolved_at },
    { label: 'Closed', at: item.closed_at },
    { label: 'Reported by', value: SOURCES[item.source].toLowerCase() },
    { label: 'Grouping key', value: item.dedup_key, mono: true },
  ].filter(filled);
}

function place(item: Item): string | null {
  if (item.file_path === null || item.file_path === '') return null;
  return item.line_no === null ? item.file_path : `${item.file_path}:${item.line_no}`;
}

/** The lease with the share of it that is left. */
function claimOf(item: Item, now: number): object | null {
  if (item.claim === null) return null;
  const { claim } = item;
  const left = Math.max(0, Math.round((Date.parse(claim.expires_at) - now) / 1000));
  const whole = Math.max(left, Math.round((Date.parse(claim.expires_at) - Date.parse(claim.claimed_at)) / 1000));
  return { ...claim, left, whole };
}

export async function itemView(page: PageDeps, request: HttpRequest, problem: Partial<Problem> = {}): Promise<View> {
  const { services, deps, timezone } = page;
  const caller = callerOf(request.principal);
  const { item } = await services.lists.detail(refOf(request), caller);
  const doc = await deps.items.get(item.id);
  if (doc === null) throw notFound('item with this id');
  const [occurrences, comments, activity, original] = await Promise.all([
    part(page, request, 'occurrences'),
    part(page, request, 'comments'),
    part(page, request, 'activity'),
    item.duplicate_of === null ? null : deps.items.get(item.duplicate_of),
  ]);
  const now = deps.clock.now();
  return new View('bug', {
    title: `${item.ref} ${item.title}`,
    crumbs: [{ label: 'Bugs', href: '/bugs' }, { label: item.ref }],
    // A refused form is shown at the form's own address, where nothing can be fetched.
    here: `/bugs/${item.ref}`,
    item,
    facts: facts(item),
    outside: Object.fromEntries(item.untrusted_fields.map((field) => [field, true])),
    claim: claimOf(item, now),
    original: original && { ref: original.ref, title: original.title },
    moves: movesFrom(item.status, item.claim !== null),
    severities: SEVERITIES.toReversed(),
    first_frame: item.stack_trace === null ? null : firstFrameLine(item.stack_trace),
    hours: services.board.hours(doc, HOURS),
    hour_titles: hourTitles(now, HOURS, timezone),
    occurrences: { ...occurrences, items: occurrences.items.map((one) => occurrenceRow(one, item)) },
    // Read from top to bottom, the form below the newest.
    comments: { ...comments, items: comments.items.toReversed() },
    activity: { ...activity, items: activity.items.map((entry) => lineOf(entry as Entry)) },
    ...problem,
  });
}

/** An occurrence with what differs from the item's own text: equal messages and stacks are not told again. */
function occurrenceRow(occurrence: object, item: Item): object {
  const { stack_trace, error_message, context, breadcrumbs } = occurrence as Record<string, unknown>;
  const own = (value: unknown, shown: string | null): string | null =>
    typeof value === 'string' && value !== '' && value !== shown ? value : null;
  const trace = own(stack_trace, item.stack_trace);
  return {
    ...occurrence,
    error_message: own(error_message, item.error_message),
    stack_trace: trace,
    first_frame: trace === null ? null : firstFrameLine(trace),
    has_payload: [trace, context ?? null, breadcrumbs ?? null].some((value) => value !== null),
  };
}
