/** /bugs/{ref}: one item with everything about it (contract 80). Texts of reports came from outside. */
import { View, type HttpRequest } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { Json } from '../../../ports/store.js';
import { callerOf } from '../caller.js';
import type { Part } from '../lists/parts.js';
import { SEVERITIES } from '../item/severity.js';
import { lineOf, type Entry } from './activity.js';
import { contextOf, listUrl, suffixOf } from './shared/context.js';
import { claimOf, commandsOf, factsOf } from './facts.js';
import { spreadRows } from './spread.js';
import type { FormProblem } from './shared/form.js';
import { movesFrom } from './moves.js';
import { occurrenceRow } from './occurrences.js';
import { refOf, type PageDeps } from './shared/page-deps.js';
import { missingMapsOf } from './missing-maps.js';
import { FrameOwners } from './trace/frame-owners.js';
import { traceOf } from './trace/trace.js';
import { undoable } from '../work/undo.js';

const DAY = 24;
const PAGE: Record<Part, number> = { occurrences: 5, comments: 50, activity: 20 };

const queryText = (request: HttpRequest, name: string): string => {
  const value = request.query[name];
  return typeof value === 'string' ? value : '';
};

/** A page of a part of the item, from the cursor in the query parameter of the same name. */
async function part(
  { services }: PageDeps,
  request: HttpRequest,
  name: Part,
): Promise<{ items: object[]; next: string | null; paged: boolean }> {
  const after = queryText(request, name) || null;
  const caller = callerOf(request.principal);
  const page = await services.parts.page(refOf(request), caller, name, { limit: PAGE[name], cursor: after });
  return { items: page.items, next: page.next_cursor, paged: after !== null };
}

/**
 * Owners of the frames in the item's own stack, as the occurrences on the page name them. Those of one error are alike.
 */
const ownersOf = (occurrences: readonly object[]): FrameOwners =>
  new FrameOwners((occurrences as { context?: Json }[]).find(({ context }) => hasFrames(context))?.context);

/** The context of the newest occurrence: a map that came later is missing no more. */
const newestContext = (occurrences: readonly { context?: Json }[]): Json => occurrences[0]?.context ?? null;

const hasFrames = (context: Json | undefined): boolean =>
  typeof context === 'object' && context !== null && 'frames' in context;

/** The folded form that is shown open: the refused one, or the search for a target. */
const openForm = ({ form }: Partial<FormProblem>, searching: boolean): string => form ?? (searching ? 'merge' : '');

export async function itemView(
  page: PageDeps,
  request: HttpRequest,
  problem: Partial<FormProblem> = {},
): Promise<View> {
  const { services, deps, reader } = page;
  const { item, pull_request, code_url, spread } = await services.lists.detail(
    refOf(request),
    callerOf(request.principal),
  );
  const doc = await deps.items.get(item.id);
  if (doc === null) throw notFound('item with this id');
  const find = queryText(request, 'find');
  // The merge form searches for targets only on request.
  const searching = find !== '' || request.query['find'] !== undefined || problem.form === 'merge';
  const [occurrences, comments, activity, original, duplicates, candidates, rule_url, alike, project, known] =
    await Promise.all([
      part(page, request, 'occurrences'),
      part(page, request, 'comments'),
      part(page, request, 'activity'),
      item.duplicate_of === null ? null : deps.items.get(item.duplicate_of),
      reader.duplicatesOf(item.id),
      searching ? reader.candidates(doc, find) : null,
      item.muted_by_rule_id === null ? null : services.filters.page(item.muted_by_rule_id),
      reader.anyAlike(doc),
      deps.projects.get(item.project),
      Promise.all(page.facts().map((known) => known.of(item))),
    ]);
  const project_name = project?.name ?? item.project;
  const moves = movesFrom(item.status, item.claim !== null);
  const context = contextOf(request);
  const name = callerOf(request.principal).name;
  // The newest entries decide; an older page of the history does not hold them.
  const newest = activity.paged ? [] : (activity.items as Entry[]);
  const hours = services.board.hours(doc, DAY);
  return new View('bug', {
    title: `${item.ref} ${item.title}`,
    crumbs: [{ label: 'Bugs', href: listUrl(context) }, { label: item.ref }],
    // A refused form is shown at the form's own address, which cannot be fetched.
    here: `/bugs/${item.ref}`,
    // Every form and link of the page keeps the list that it was opened from.
    keep: suffixOf(context),
    list_url: listUrl(context),
    undoable: problem.form === undefined ? undoable(item, newest, name, deps.clock.now()) : null,
    alike,
    item,
    spread: spreadRows(spread),
    code_url,
    facts: [...factsOf(item, project_name, pull_request), ...known.flat()],
    project_name,
    outside: Object.fromEntries(item.untrusted_fields.map((field) => [field, true])),
    claim: claimOf(item, deps.clock.now()),
    mine: item.assignee === name,
    original: original && { ref: original.ref, title: original.title, status: original.status },
    duplicates,
    moves,
    tags_text: problem.form === 'labels' ? problem.typed?.['tags'] : item.tags.join(', '),
    agent_text: problem.form === 'labels' ? problem.typed?.['target_agent'] : item.target_agent,
    may_merge: moves.some(({ to }) => to === 'duplicate'),
    find,
    open: openForm(problem, searching),
    candidates,
    rule_url,
    severities: SEVERITIES.toReversed(),
    trace: traceOf(item.stack_trace, { file: item.file_path, line: item.line_no, owners: ownersOf(occurrences.items) }),
    missing_maps: missingMapsOf(newestContext(occurrences.items), item.project, page.baseUrl()),
    commands: commandsOf(item, page.baseUrl()),
    actions: page.actions().flatMap((action) => {
      const { label, icon, shortcut = null } = action;
      const href = action.href(item);
      return href === null ? [] : [{ label, icon, shortcut, href }];
    }),
    hours,
    days: services.board.days(doc),
    occurrences: {
      ...occurrences,
      items: occurrences.items.map((occurrence, i) => occurrenceRow(occurrence, item, i === 0)),
    },
    // Newest last, as a conversation is read.
    comments: { ...comments, items: comments.items.toReversed() },
    activity: { ...activity, items: (activity.items as Entry[]).map(lineOf) },
    ...problem,
  });
}
