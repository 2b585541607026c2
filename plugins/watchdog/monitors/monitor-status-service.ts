import { inject, injectable } from '../../../kernel/contract/index.js';
import { CoalescedCache } from '../../../lib/caching/coalesced-cache.js';
import { yieldToEventLoop } from '../../../lib/process/event-loop.js';
import { denied } from '../../../kernel/errors.js';
import type { MonitorState, MonitorView } from '../../../ports/domain/watchdog.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { assertCanReport, type WatchdogCaller } from '../model/caller.js';
import { DEPS } from '../deps.js';
import { EvaluatorRunService } from '../evaluator/runs.js';
import { STATES, type MonitorDoc } from '../model/documents.js';
import { DailyUptimeReader } from './daily-uptime-reader.js';
import { MonitorForest, formatTreeJson } from './monitor-forest.js';
import {
  formatSourceCursor,
  formatPositionCursor,
  parsePositionCursor,
  parseSourceCursor,
  STATES_BY_URGENCY,
} from './list-cursors.js';
import { MonitorSnapshotService, type MonitorRow } from './monitor-snapshot-service.js';
import { maskView, SourceVisibility, type HiddenSources } from '../tree/source-visibility.js';
import {
  findReadable,
  SkippedDocuments,
  hideDocumentNames,
  pickWarnings,
  type ListWarnings,
} from '../../../ports/store/skipped-documents.js';
import type { Clock } from '../../../ports/clock.js';

const MAX_STATUS_ITEMS = 5_000;
const SLICE_ROWS = 500;

export interface MonitorFilter {
  source?: readonly string[];
  state?: readonly MonitorState[];
  parent?: string;
  project?: string;
  tag?: readonly string[];
  alarm?: string;
  q?: string;
}

export interface MonitorPage extends ListWarnings {
  docs: MonitorDoc[];
  next: string | null;
}

const ALARMED_STATES: readonly MonitorState[] = ['down'];

const MAX_COUNT_AGE_MS = 2_000;
const MIN_CACHED_PARENTS = 200;
const MIN_CACHED_MONITORS = 2_000;

export interface StatusQuery {
  source?: readonly string[];
  state?: readonly MonitorState[];
  parent?: string;
  tree?: boolean;
  /** Of this many days, 1 to 400. */
  uptime?: number;
  limit?: number;
  cursor?: string;
}

@injectable()
export class MonitorStatusService {
  readonly #parents: CoalescedCache<string[]>;
  readonly #counts: CoalescedCache<Record<MonitorState, number>>;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.clock) clock: Clock,
    @inject(EvaluatorRunService) private readonly runs: EvaluatorRunService,
    @inject(MonitorSnapshotService) private readonly snapshots: MonitorSnapshotService,
    @inject(SourceVisibility) private readonly visibility: SourceVisibility,
    @inject(DailyUptimeReader) private readonly uptimes: DailyUptimeReader,
  ) {
    const shared = { maxAgeMs: MAX_COUNT_AGE_MS, monotonic: () => clock.monotonic() };
    this.#parents = new CoalescedCache(() => this.#readParents(), {
      ...shared,
      isSmall: ({ length }) => length <= MIN_CACHED_PARENTS,
    });
    this.#counts = new CoalescedCache(() => this.#readCounts(), {
      ...shared,
      isSmall: (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0) <= MIN_CACHED_MONITORS,
    });
  }

  /** @throws ServiceError source_mismatch, insufficient_scope */
  buildFilter(query: MonitorFilter, caller: WatchdogCaller): Filter {
    for (const source of query.source ?? []) assertCanReport(caller, source);
    if (caller.project !== null && query.project !== undefined && query.project !== caller.project) {
      throw denied('This token belongs to another project.');
    }
    const filter: Filter = { deleted_at: null };
    const sources = query.source ?? (caller.source === null ? undefined : [caller.source]);
    if (sources !== undefined) filter['source'] = { in: sources };
    if (query.state !== undefined) filter['state'] = { in: query.state };
    if (query.parent !== undefined) filter['parent_source'] = query.parent;
    const project = caller.project ?? query.project;
    if (project !== undefined) filter['project'] = project;
    if (query.tag !== undefined) filter['tags'] = { has_any: query.tag };
    if (query.alarm !== undefined) filter['alarm'] = query.alarm;
    if (query.q) filter['or'] = [{ source: { contains: query.q } }, { name: { contains: query.q } }];
    return filter;
  }

  async listPage(
    query: MonitorFilter & { limit?: number; cursor?: string; include_total?: boolean },
    caller: WatchdogCaller,
  ): Promise<MonitorPage & { total: number | undefined }> {
    const filter = this.buildFilter(query, caller);
    const monitors = this.monitors;
    const page = await findReadable(monitors, {
      filter,
      sort: [['source', 'asc']],
      limit: query.limit ?? 50,
      after: query.cursor ?? null,
    });
    const total = query.include_total === true ? await monitors.count(filter) : undefined;
    const hidden = await this.visibility.findHiddenInViews(page.items, caller);
    return { docs: page.items.map((doc) => maskView(doc, hidden)), next: page.next, total, ...pickWarnings(page) };
  }

  /**
   * Lists by `STATES_BY_URGENCY`, then source; one indexed query per state.
   * @throws ServiceError invalid_cursor
   */
  async listWorstFirst(
    query: MonitorFilter & { limit: number; cursor?: string },
    caller: WatchdogCaller,
  ): Promise<MonitorPage> {
    // Only down monitors have an alarm (monitor-change-set.ts).
    const candidateStates = query.alarm === undefined ? STATES_BY_URGENCY : ALARMED_STATES;
    const states = candidateStates.filter((state) => query.state?.includes(state) ?? true);
    const from = query.cursor === undefined ? { state: states[0], after: null } : parsePositionCursor(query.cursor);
    const docs: MonitorDoc[] = [];
    const left = new SkippedDocuments();
    for (const state of states.slice(Math.max(states.indexOf(from.state as MonitorState), 0))) {
      const remaining = query.limit - docs.length;
      const page = await this.monitors.find({
        filter: { ...this.buildFilter(query, caller), state },
        sort: [['source', 'asc']],
        limit: remaining || 1,
        after: state === from.state ? from.after : null,
        damaged: left.add,
      });
      if (remaining > 0) docs.push(...page.items);
      else if (page.items.length > 0)
        return this.#toPage(docs, left, formatPositionCursor({ state, after: null }), caller);
      if (remaining > 0 && page.next !== null)
        return this.#toPage(docs, left, formatPositionCursor({ state, after: page.next }), caller);
    }
    return this.#toPage(docs, left, null, caller);
  }

  async #toPage(
    docs: readonly MonitorDoc[],
    left: SkippedDocuments,
    next: string | null,
    caller: WatchdogCaller,
  ): Promise<MonitorPage> {
    const hidden = await this.visibility.findHiddenInViews(docs, caller);
    return { docs: docs.map((doc) => maskView(doc, hidden)), next, ...left.toWarnings };
  }

  /**
   * Serialized in slices, because `/status` may take megabytes.
   * @throws ServiceError source_mismatch, invalid_cursor, invalid_request (too many days of uptime)
   */
  async getStatusJson(query: StatusQuery, caller: WatchdogCaller): Promise<Buffer> {
    for (const source of query.source ?? []) assertCanReport(caller, source);
    const after = query.cursor === undefined ? null : parseSourceCursor(query.cursor);
    const [snapshot, health] = await Promise.all([this.snapshots.take(), this.runs.getHealth()]);
    const rows = listMatchingRows(snapshot.rows, query, caller);
    const first = after === null ? 0 : rows.findIndex(({ source }) => source > after);
    const shown = first < 0 ? [] : rows.slice(first, first + (query.limit ?? MAX_STATUS_ITEMS));
    const last = shown.at(-1);
    const more = last !== undefined && last !== rows.at(-1);
    const uptimes = query.uptime === undefined ? null : this.uptimes.createReading(shown.length, query.uptime);
    const hidden = await this.visibility.findHiddenInViews(shown, caller);
    const head = {
      status: 'success',
      generated_at: snapshot.at,
      stale: !health.ok,
      counts: countStates(rows),
      ...buildPaging(query, more ? formatSourceCursor(last.source) : null),
      ...(caller.project === null && caller.source === null && caller.most === undefined
        ? pickWarnings(snapshot)
        : hideDocumentNames(snapshot)),
    };
    const parts = [Buffer.from(`${JSON.stringify(head).slice(0, -1)},"monitors":[`)];
    const step = uptimes?.part ?? SLICE_ROWS;
    for (let i = 0; i < shown.length; i += step) {
      const slice = shown.slice(i, i + step);
      const known = await uptimes?.of(slice.map(({ id }) => id));
      const texts = slice.map((row) => addUptime(formatRow(row, hidden), known && (known.get(row.id) ?? 'null')));
      parts.push(Buffer.from((i > 0 ? ',' : '') + texts.join(',')));
      await yieldToEventLoop();
    }
    const whole = rows === snapshot.rows;
    const tree =
      query.tree === true
        ? formatTree(await (whole ? snapshot.forest() : MonitorForest.create(rows, yieldToEventLoop)))
        : null;
    parts.push(Buffer.from(tree === null ? ']}' : `],${tree}}`));
    return Buffer.concat(parts);
  }

  /** Answered by an index alone; a monitor that is being deleted still counts. */
  listParents(): Promise<string[]> {
    return this.#parents.get();
  }

  async #readParents(): Promise<string[]> {
    const groups = await this.monitors.groupCount('parent_source', { parent_source: { gt: '' } });
    return groups.map(({ key }) => String(key)).toSorted();
  }

  /** @param project null: all */
  countDown(project: string | null = null): Promise<number> {
    return this.monitors.count({ state: 'down', ...(project !== null && { project }) });
  }

  /** @param project null: all */
  getCounts(project: string | null = null): Promise<Record<MonitorState, number>> {
    return project === null ? this.#counts.get() : this.#readCounts({ project });
  }

  async #readCounts(filter?: Filter): Promise<Record<MonitorState, number>> {
    const groups = await this.monitors.groupCount('state', filter);
    const counts = countStates([]);
    for (const { key, n } of groups) counts[key as MonitorState] = n;
    return counts;
  }
}

function listMatchingRows(
  rows: readonly MonitorRow[],
  query: StatusQuery,
  caller: WatchdogCaller,
): readonly MonitorRow[] {
  const names = query.source ?? (caller.source === null ? undefined : [caller.source]);
  const sources = names && new Set(names);
  const states = query.state && new Set(query.state);
  const { parent } = query;
  const { project } = caller;
  if (sources === undefined && states === undefined && parent === undefined && project === null) return rows;
  return rows.filter(
    (row) =>
      (project === null || row.project === project) &&
      (sources === undefined || sources.has(row.source)) &&
      (states === undefined || states.has(row.state)) &&
      (parent === undefined || row.parent_source === parent),
  );
}

function formatTree(forest: MonitorForest<MonitorRow>): string {
  const { branches, placed } = forest.buildBranches(forest.roots, MAX_STATUS_ITEMS);
  const tree = formatTreeJson(branches, ({ source, state }) => `"source":"${source}","state":"${state}"`);
  const left = forest.size - placed;
  return `"tree":${tree}${left > 0 ? `,"tree_left_out":${left}` : ''}`;
}

function formatRow(row: MonitorRow, hidden: HiddenSources): string {
  const seen = maskView(row, hidden);
  if (seen.parent_source === row.parent_source && seen.suppressed_by === row.suppressed_by) return row.json;
  return JSON.stringify(maskView(JSON.parse(row.json) as MonitorView, hidden));
}

const addUptime = (json: string, uptime: string | undefined): string =>
  uptime === undefined ? json : `${json.slice(0, -1)},"uptime":${uptime}}`;

function buildPaging({ limit, cursor }: StatusQuery, next_cursor: string | null): object {
  if (limit !== undefined || cursor !== undefined) return { next_cursor, has_more: next_cursor !== null };
  return next_cursor === null ? {} : { truncated: true, next_cursor };
}

function countStates(monitors: readonly { state: MonitorState }[]): Record<MonitorState, number> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<MonitorState, number>;
  for (const { state } of monitors) counts[state]++;
  return counts;
}
