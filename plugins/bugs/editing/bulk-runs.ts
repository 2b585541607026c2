/**
 * Applies one change to many items in batches. The store holds the position, so after a crash
 * another process continues (the job, after 15 s without a heartbeat) and repeats the interrupted
 * batch. No change is made twice; only this batch's count is lost (`resumed`).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { matchesFilter } from '../../../ports/document.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { LeaseService } from '../claims/leases.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS } from '../deps.js';
import { toItemFilter, type ItemQuery } from '../item/filters.js';
import type { ItemStatus } from '../../../ports/domain/bugs.js';
import type { ItemEdit } from '../item/edit.js';
import { EditService } from './edits.js';
import type { ItemDoc, ActivityDoc } from '../item/model.js';
import type { BulkRunDoc } from '../item/operation-documents.js';
import { IndirectMatchService } from '../store/indirect-matches.js';
import { findLastFinishingChange, createUndoGoneError, canUndoRun, undoLastChange } from './undo.js';
import type { Logger } from '../../../ports/logger.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

const HEARTBEAT_TIMEOUT_MS = 15_000;
const BATCH_SIZE = 100;
const MAX_CONCURRENT_EDITS = 16;
const MAX_NAMED_FAILURES = 50;
const MAX_HISTORY_ENTRIES = 10;
const RETENTION_MS = 30 * DAY_MS;

export interface BulkRunRequest {
  query: ItemQuery;
  except?: string;
  set: ItemEdit;
  says: BulkRunDoc['says'];
  undo?: BulkRunDoc['undo'];
}

const INITIAL_PROGRESS = { scanned: 0, updated: 0, failed: 0, failures: [], resumed: false, after: null } as const;

interface BatchResult {
  scanned: number;
  updated: number;
  failed: number;
  failures: BulkRunDoc['failures'];
  next: string | null;
}

@injectable()
export class BulkRunService {
  readonly #running = new Set<Promise<void>>();
  #stopping = false;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.bulks) private readonly bulks: Collection<BulkRunDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(IndirectMatchService) private readonly indirectMatches: IndirectMatchService,
    @inject(EditService) private readonly edits: EditService,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {}

  find(id: string): Promise<BulkRunDoc | null> {
    return this.bulks.get(id);
  }

  async start(order: BulkRunRequest, caller: BugCaller): Promise<BulkRunDoc> {
    const { bulks, clock, items } = this;
    await this.leases.writeExpired();
    const query = await this.indirectMatches.addTo(order.query);
    const run: BulkRunDoc = { ...this.#createRun({ ...order, query }, caller, clock.iso()), failures: [] };
    run.total = await items.count(buildRunFilter(run, null));
    await bulks.insert(run);
    this.#runInBackground(run);
    return run;
  }

  /**
   * Records a change already made by a request, so that it can be undone.
   * @param since its start, RFC 3339 in UTC
   */
  async recordCompleted(order: BulkRunRequest, caller: BugCaller, since: string, updated: number): Promise<BulkRunDoc> {
    const run: BulkRunDoc = {
      ...this.#createRun(order, caller, since),
      failures: [],
      state: 'done',
      total: updated,
      scanned: updated,
      updated,
      finished_at: this.clock.iso(),
    };
    await this.bulks.insert(run);
    return run;
  }

  /**
   * Undoes a run within a minute of its end, except for items changed since.
   * @throws ServiceError conflict when there is nothing left to undo
   */
  async undo(run: BulkRunDoc, caller: BugCaller): Promise<BulkRunDoc> {
    const { bulks, clock } = this;
    const now = clock.iso();
    if (!canUndoRun(run, caller, clock.now())) throw createUndoGoneError();
    const updated = await bulks.change({ id: run.id, undone_at: null }, { set: { undone_at: now } });
    if (updated === null) throw createUndoGoneError();
    const says = { does: 'Undo the change of', done: 'restored', back: run.says.back };
    const undo = { since: run.started_at, until: run.finished_at ?? now };
    return this.start({ query: { status: [run.set['status'] as ItemStatus] }, set: {}, says, undo }, caller);
  }

  #createRun({ query, except, set, says, undo: back }: BulkRunRequest, caller: BugCaller, started_at: string) {
    return {
      ...INITIAL_PROGRESS,
      id: this.ids.uuid(),
      query,
      except: except ?? null,
      set: { ...set },
      says,
      by: { id: caller.id, name: caller.name },
      state: 'running',
      total: 0,
      owner: this.ids.uuid(),
      beat_at: started_at,
      started_at,
      finished_at: null,
      ...(back !== undefined && { undo: back }),
    } as const;
  }

  async resume(): Promise<void> {
    const { bulks, clock, ids } = this;
    const filter = { state: 'running', ...buildElapsedFilter('beat_at', HEARTBEAT_TIMEOUT_MS, clock.now()) };
    for (const run of (await bulks.find({ filter, limit: 50 })).items) {
      const set = { owner: ids.uuid(), beat_at: clock.iso(), resumed: true };
      const acquired = await bulks.change({ id: run.id, owner: run.owner, beat_at: run.beat_at }, { set });
      if (acquired !== null) this.#runInBackground(acquired.doc);
    }
  }

  async deleteOld(signal?: AbortSignal): Promise<void> {
    const { bulks, clock } = this;
    await removeAll(bulks, { finished_at: { lt: toIsoString(clock.now() - RETENTION_MS) } }, signal);
  }

  /** Stops after the current batch. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.waitUntilIdle();
  }

  async waitUntilIdle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #runInBackground(run: BulkRunDoc): void {
    const task = this.#processRun(run).catch((error: unknown) => this.#recordFailure(run, error));
    this.#running.add(task);
    void task.finally(() => this.#running.delete(task));
  }

  async #processRun(begun: BulkRunDoc): Promise<void> {
    let run: BulkRunDoc | null = begun;
    while (run !== null && run.state === 'running' && !this.#stopping) {
      const { next, failures, ...counts }: BatchResult = await this.#processBatch(run);
      const now = this.clock.iso();
      const done = next === null;
      const changed = await this.bulks.change(
        { id: run.id, owner: run.owner },
        {
          inc: counts,
          set: { after: next, beat_at: now, ...(done && { state: 'done', finished_at: now }) },
          push: { failures: { each: failures.slice(0, Math.max(0, MAX_NAMED_FAILURES - run.failures.length)) } },
        },
      );
      run = changed?.doc ?? null;
    }
  }

  async #processBatch(run: BulkRunDoc): Promise<BatchResult> {
    const filter = buildRunFilter(run, run.after);
    const { items, next } = await this.items.find({ filter, sort: [['id', 'asc']], limit: BATCH_SIZE });
    const step: BatchResult = {
      scanned: items.length,
      updated: 0,
      failed: 0,
      failures: [],
      next: next === null ? null : (items.at(-1)?.id ?? null),
    };
    for (let at = 0; at < items.length; at += MAX_CONCURRENT_EDITS) {
      await Promise.all(items.slice(at, at + MAX_CONCURRENT_EDITS).map((item) => this.#processItem(run, item, step)));
    }
    return step;
  }

  async #processItem(run: BulkRunDoc, item: ItemDoc, step: BatchResult): Promise<void> {
    const { id, ref } = item;
    const still = toItemFilter(run.query);
    const caller: BugCaller = { ...run.by, project: null, manage: true, kind: 'session' };
    try {
      if (run.undo !== undefined) {
        if (await this.#undoItem(run.undo, item, caller)) step.updated += 1;
        return;
      }
      await this.edits.edit(id, caller, run.set, undefined, (item) => {
        if (!matchesFilter(item, still)) throw new ServiceError('conflict', 'The item no longer matches the filter.');
      });
      step.updated += 1;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      step.failed += 1;
      step.failures.push({ ref, message: [error.message, ...Object.values(error.fields ?? {})].join(' ') });
    }
  }

  /** @returns false for an item that someone else ended, or that ended at another time */
  async #undoItem(
    { since, until }: NonNullable<BulkRunDoc['undo']>,
    item: ItemDoc,
    caller: BugCaller,
  ): Promise<boolean> {
    const activity = await this.activity.find({
      filter: { item_id: item.id },
      sort: [['at', 'desc']],
      limit: MAX_HISTORY_ENTRIES,
    });
    const last = findLastFinishingChange(item, activity.items, caller.name);
    if (last === null || last.at < since || last.at > until) return false;
    await undoLastChange(this.edits, item, last, caller);
    return true;
  }

  async #recordFailure(run: BulkRunDoc, error: unknown): Promise<void> {
    this.log.error({ err: error, run: run.id }, 'a bulk change could not be finished');
    try {
      const set = { state: 'failed', finished_at: this.clock.iso() };
      await this.bulks.change({ id: run.id, owner: run.owner }, { set });
    } catch (fault) {
      // The job resumes it, for lack of a heartbeat.
      this.log.error({ err: fault, run: run.id }, 'the result of a bulk change could not be stored');
    }
  }
}

function buildRunFilter(
  { query, except, started_at, undo: back }: Pick<BulkRunDoc, 'query' | 'except' | 'started_at' | 'undo'>,
  after: string | null,
): Filter {
  const id = { ...(after !== null && { gt: after }), ...(except !== null && { ne: except }) };
  return {
    ...toItemFilter(query),
    created_at: { lte: started_at },
    ...(back !== undefined && { updated_at: { gte: back.since } }),
    ...(Object.keys(id).length > 0 && { id }),
  };
}
