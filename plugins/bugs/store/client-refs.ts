/**
 * `client_ref`: a report counts once despite repeats, concurrency or crashes (contract 20, values).
 *
 * Order: the reference is bound to an item (marker: `open_at`) → the atomic count adds the
 * reference to `inflight` → the reference is closed after the response → the `inflight` entry is
 * removed with the next count. A repeat that finds an open reference counts it for the first
 * caller, guarded by that entry. Such an entry stays for a minute, because the first caller may
 * just be slow.
 *
 * With transactions, reference and count are one write (write-committer.ts); the order above then
 * applies only to reports that such a write rejects. There is no prior lookup: the store rejects an
 * existing reference.
 *
 * Rejected: closing before the response, a third write per report; the reference after the count,
 * because concurrent reports could create two items.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { toIsoString } from '../../../lib/time.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import type { ItemDoc, RefDoc } from '../item/model.js';
import { WriteCommitter, type PreparedWrites, type DocumentWrite } from './write-committer.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';

const OCCURRENCE_REF_DAYS = 30;
const MAX_RECENT_REFS = 5_000;
const BATCH_SIZE = 200;
/** From this size, entries of ended processes are searched. */
const CROWDED_ENTRY_COUNT = 64;
/** Older open references belong to an ended process. */
const ABANDONED_MS = 60_000;

interface ClosedRef {
  id: string;
  project: string;
  item_id: string;
  own: boolean;
  /** Counted by a repeat on behalf of the first caller. */
  helped: boolean;
}

interface InflightEntry {
  id: string;
  droppable_at: number;
}

@injectable()
export class ClientRefService {
  #queue: ClosedRef[] = [];
  #running: Promise<void> | null = null;
  /** Still in `inflight`, by item. */
  readonly #inflightEntries = new Map<string, InflightEntry[]>();
  readonly #tidying = new Set<string>();

  /** A repeat usually follows soon, and then starts with a lookup. */
  readonly #recent = new BoundedMap<true>({ most: MAX_RECENT_REFS });

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.refs) private readonly refs: Collection<RefDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
  ) {}

  /** @param isPublic an intake key's separate namespace (contract 20, values) */
  toRefId(project: string, clientRef: string, isPublic: boolean): string {
    return isPublic ? toPublicRefId(project, clientRef) : hashWithinProject(project, clientRef);
  }

  async find(id: string): Promise<RefDoc | null> {
    const ref = await this.refs.get(id);
    if (ref !== null) this.#recent.set(id, true);
    return ref;
  }

  /** May be a repeat; only the store knows for sure. */
  isRecentlyUsed(id: string): boolean {
    return this.#recent.get(id) === true;
  }

  /**
   * Runs before the write that counts the report.
   * @param own the item's own reference, retained as long as the item
   * @param before writes that must be stored first
   * @returns null when the reference exists or a write of `before` was rejected
   */
  async prepare(
    { id, project, item_id, own }: Pick<ClosedRef, 'id' | 'project' | 'item_id' | 'own'>,
    before: readonly DocumentWrite[] = [],
  ): Promise<PreparedWrites | null> {
    this.#recent.set(id, true);
    const closed: RefDoc = { id, project, item_id, open_at: null, expires_at: own ? null : this.#getExpiry() };
    const open: RefDoc = { id, project, item_id, open_at: this.clock.iso(), expires_at: null };
    return this.commit.prepare(before, { collection: 'refs', open, closed });
  }

  #getExpiry(): string {
    return toIsoString(this.clock.now() + OCCURRENCE_REF_DAYS * 86_400_000);
  }

  /** If another call was first, `mine` is false and its binding applies. */
  async bind(id: string, project: string, itemId: string): Promise<{ ref: RefDoc; mine: boolean }> {
    const { refs, clock } = this;
    const ref: RefDoc = { id, project, item_id: itemId, open_at: clock.iso(), expires_at: null };
    for (;;) {
      try {
        await refs.insert(ref);
        return { ref, mine: true };
      } catch (error) {
        if (!(error instanceof StoreConflict)) throw error;
      }
      const other = await refs.get(id);
      if (other !== null) return { ref: other, mine: false };
    }
  }

  async release(id: string, itemId: string): Promise<void> {
    await this.refs.remove({ id, item_id: itemId });
  }

  async rebind(id: string, from: string, to: string): Promise<void> {
    await this.refs.change({ id, item_id: from }, { set: { item_id: to } });
  }

  scheduleClose(done: ClosedRef): void {
    this.#queue.push(done);
    this.#running ??= this.#closePending().finally(() => {
      this.#running = null;
    });
  }

  async #closePending(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue.slice(0, BATCH_SIZE);
        await this.#closeBatch(batch);
        this.#queue = this.#queue.slice(batch.length);
      }
    } catch (error) {
      this.#queue = [];
      this.log.error({ err: error }, 'references of reports could not be finished; a job will retry');
    }
  }

  async #closeBatch(batch: readonly ClosedRef[]): Promise<void> {
    const expires = this.#getExpiry();
    await this.refs.bulk(
      batch.map(({ id, project, item_id, own }) => ({
        put: { id, project, item_id, open_at: null, expires_at: own ? null : expires },
      })),
    );
    for (const { id, item_id, helped } of batch) {
      const note = { id, droppable_at: this.clock.now() + (helped ? ABANDONED_MS : 0) };
      this.#inflightEntries.set(item_id, [...(this.#inflightEntries.get(item_id) ?? []), note]);
    }
  }

  /** The next write may remove them; treats them as removed. */
  takeRemovablePaths(itemId: string): string[] {
    const notes = this.#inflightEntries.get(itemId);
    if (notes === undefined) return [];
    const now = this.clock.now();
    const retainedNotes = notes.filter((note) => note.droppable_at > now);
    if (retainedNotes.length === 0) this.#inflightEntries.delete(itemId);
    else this.#inflightEntries.set(itemId, retainedNotes);
    return notes.filter((note) => note.droppable_at <= now).map(({ id }) => `inflight.${id}`);
  }

  /** Removes entries of items without newer counts, and of crashes in crowded items. */
  async removeStaleEntries(): Promise<void> {
    for (const itemId of this.#inflightEntries.keys()) {
      const unset = this.takeRemovablePaths(itemId);
      if (unset.length > 0) await this.items.change({ id: itemId }, { unset });
    }
  }

  isCrowded({ inflight }: ItemDoc): boolean {
    return Object.keys(inflight).length >= CROWDED_ENTRY_COUNT;
  }

  async removeItemEntries(item: ItemDoc): Promise<void> {
    if (!this.isCrowded(item) || this.#tidying.has(item.id)) return;
    this.#tidying.add(item.id);
    try {
      await this.#removeClosedEntries(item);
    } finally {
      this.#tidying.delete(item.id);
    }
  }

  async #removeClosedEntries(item: ItemDoc): Promise<void> {
    const ids = Object.keys(item.inflight);
    const { items } = await this.refs.find({
      filter: { id: { in: ids.slice(0, 1000) }, open_at: null },
      limit: 1000,
    });
    if (items.length > 0) await this.items.change({ id: item.id }, { unset: items.map(({ id }) => `inflight.${id}`) });
  }

  async reconcile(): Promise<void> {
    const { refs, items, clock } = this;
    const open = await refs.find({
      filter: buildElapsedFilter('open_at', ABANDONED_MS, clock.now()),
      sort: [['open_at', 'asc']],
      limit: BATCH_SIZE,
    });
    const docs = await items.find({
      filter: { id: { in: [...new Set(open.items.map((ref) => ref.item_id))] } },
      limit: BATCH_SIZE,
    });
    for (const ref of open.items) {
      const item = docs.items.find(({ id }) => id === ref.item_id);
      // Never acknowledged, so a repeat binds it again.
      if (item?.inflight[ref.id] === undefined) await refs.remove({ id: ref.id, open_at: ref.open_at });
      else
        this.scheduleClose({
          id: ref.id,
          project: ref.project,
          item_id: item.id,
          own: isOwnRef(item, ref.id),
          helped: false,
        });
    }
    await this.drain();
  }

  async deleteExpired(signal?: AbortSignal): Promise<void> {
    const { refs, clock } = this;
    await removeAll(refs, { expires_at: { gt: '', lt: clock.iso() } }, signal);
  }

  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }
}

/** Slugs are never empty, so it differs from all token references. */
export const toPublicRefId = (project: string, clientRef: string): string =>
  hashWithinProject('', `${project}\u001f${clientRef}`);

/** Checks either namespace; such a reference is retained as long as the item. */
export const isOwnRef = ({ client_ref, project }: ItemDoc, ref: string): boolean =>
  client_ref !== null && (hashWithinProject(project, client_ref) === ref || toPublicRefId(project, client_ref) === ref);
