/**
 * `client_ref`: one report counts once, whatever is repeated, in parallel or after a crash (contract 20, values).
 *
 * Order: the reference is bound to an item (marker: `open_at`) → the item is counted, in the same atomic write that
 * notes the reference in `inflight` → the reference is finished behind the answer → the note leaves the item with its
 * next count. A repeat that meets an open reference counts it in the first caller's place, guarded by the note: so a
 * crash between two steps neither loses the report nor counts it twice. The note of such a helper stays for a minute,
 * because the first caller may merely be slow.
 *
 * Where the store has transactions, reference and count are one write (commit.ts), and none of this is needed: a crash
 * leaves both or nothing. No look-up comes before: the store refuses the write with a known reference, and only then
 * the reference is read. The order above is for stores without transactions, and for reports that such a write refuses
 * (a parallel repeat, an item that needs more than counting).
 *
 * Rejected: finishing before the answer (a third write on the way of every report), and the reference after the count
 * (two parallel reports with one reference and different texts would make two items).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { elapsed } from '../../../lib/clock-skew.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { isoOf } from '../../../lib/time.js';
import { StoreConflict } from '../../../ports/store.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import type { ItemDoc, RefDoc } from '../item/model.js';
import { Commit, type PreparedWrites, type Write } from './commit.js';

const OCCURRENCE_DAYS = 30;
const SEEN = 5_000;
const BATCH_SIZE = 200;
/** Notes in one item from which on those of dead processes are searched. */
const CROWDED = 64;
/** Age from which an open reference belongs to a dead process. */
const ABANDONED_MS = 60_000;

interface Finish {
  id: string;
  project: string;
  item_id: string;
  /** The reference that the item itself carries. */
  own: boolean;
  /** Counted by a repeat in the first caller's place. */
  helped: boolean;
}

interface Note {
  id: string;
  droppable_at: number;
}

@injectable()
export class ClientRefs {
  #queue: Finish[] = [];
  #running: Promise<void> | null = null;
  /** Item → references that are finished and still noted in it. */
  readonly #noted = new Map<string, Note[]>();
  /** Items whose notes are being searched. */
  readonly #tidying = new Set<string>();

  /** References that this process has written or found: a repeat mostly comes soon, and then begins with a look-up. */
  readonly #seen = new BoundedMap<true>({ most: SEEN });

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Commit) private readonly commit: Commit,
  ) {}

  /** @param isPublic sent with an intake key: those have a space of their own (contract 20, values) */
  idOf(project: string, clientRef: string, isPublic: boolean): string {
    return isPublic ? toPublicRefId(project, clientRef) : hashWithinProject(project, clientRef);
  }

  async find(id: string): Promise<RefDoc | null> {
    const ref = await this.deps.refs.get(id);
    if (ref !== null) this.#seen.set(id, true);
    return ref;
  }

  /**
   * Whether a reference may be a repeat's, because it was seen lately; others are nearly always new. Only the store
   * knows.
   */
  isSeenLately(id: string): boolean {
    return this.#seen.get(id) === true;
  }

  /**
   * Prepares the reference before the write that counts its report at the item.
   * @param own the item's own, remembered as long as the item @param before writes that must be in the store before the
   * reference is bound
   * @returns null: the reference is known, or a write of `before` was refused
   */
  async prepare(
    { id, project, item_id, own }: Pick<Finish, 'id' | 'project' | 'item_id' | 'own'>,
    before: readonly Write[] = [],
  ): Promise<PreparedWrites | null> {
    this.#seen.set(id, true);
    const closed: RefDoc = { id, project, item_id, open_at: null, expires_at: own ? null : this.#expiry() };
    const open: RefDoc = { id, project, item_id, open_at: this.deps.clock.iso(), expires_at: null };
    return this.commit.prepare(before, { collection: 'refs', open, closed });
  }

  #expiry(): string {
    return isoOf(this.deps.clock.now() + OCCURRENCE_DAYS * 86_400_000);
  }

  /** Binds the reference to the item, unless another call was first (`mine` false): then its binding holds. */
  async bind(id: string, project: string, itemId: string): Promise<{ ref: RefDoc; mine: boolean }> {
    const { refs, clock } = this.deps;
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

  /** Frees the reference: its item was deleted. */
  async release(id: string, itemId: string): Promise<void> {
    await this.deps.refs.remove({ id, item_id: itemId });
  }

  /** Binds the reference to another item, which counts the report (a duplicate's target). */
  async rebind(id: string, from: string, to: string): Promise<void> {
    await this.deps.refs.change({ id, item_id: from }, { set: { item_id: to } });
  }

  /** Finishes the reference, which the item has counted, behind the answer. */
  finish(done: Finish): void {
    this.#queue.push(done);
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
  }

  async #work(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        const batch = this.#queue.slice(0, BATCH_SIZE);
        await this.#close(batch);
        this.#queue = this.#queue.slice(batch.length);
      }
    } catch (error) {
      // The references stay open; the job finishes them.
      this.#queue = [];
      this.deps.log.error({ err: error }, 'references of reports could not be finished; a job repeats it');
    }
  }

  async #close(batch: readonly Finish[]): Promise<void> {
    const expires = this.#expiry();
    await this.deps.refs.bulk(
      batch.map(({ id, project, item_id, own }) => ({
        put: { id, project, item_id, open_at: null, expires_at: own ? null : expires },
      })),
    );
    for (const { id, item_id, helped } of batch) {
      const note = { id, droppable_at: this.deps.clock.now() + (helped ? ABANDONED_MS : 0) };
      this.#noted.set(item_id, [...(this.#noted.get(item_id) ?? []), note]);
    }
  }

  /** Paths that the next write of the item may drop. They count as dropped. */
  takeNotes(itemId: string): string[] {
    const notes = this.#noted.get(itemId);
    if (notes === undefined) return [];
    const now = this.deps.clock.now();
    const kept = notes.filter((note) => note.droppable_at > now);
    if (kept.length === 0) this.#noted.delete(itemId);
    else this.#noted.set(itemId, kept);
    return notes.filter((note) => note.droppable_at <= now).map(({ id }) => `inflight.${id}`);
  }

  /** Drops the notes of items that were not counted since, and those that a crash left in a crowded item. */
  async tidy(): Promise<void> {
    for (const itemId of this.#noted.keys()) {
      const unset = this.takeNotes(itemId);
      if (unset.length > 0) await this.deps.items.change({ id: itemId }, { unset });
    }
  }

  /** Whether notes of dead processes should be searched (`tidyItem`). */
  isCrowded({ inflight }: ItemDoc): boolean {
    return Object.keys(inflight).length >= CROWDED;
  }

  /** Searches an item once at a time: a batch of reports makes an item crowded for all of them. */
  async tidyItem(item: ItemDoc): Promise<void> {
    if (!this.isCrowded(item) || this.#tidying.has(item.id)) return;
    this.#tidying.add(item.id);
    try {
      await this.#dropFinished(item);
    } finally {
      this.#tidying.delete(item.id);
    }
  }

  async #dropFinished(item: ItemDoc): Promise<void> {
    const ids = Object.keys(item.inflight);
    const { items } = await this.deps.refs.find({
      filter: { id: { in: ids.slice(0, 1000) }, open_at: null },
      limit: 1000,
    });
    if (items.length > 0)
      await this.deps.items.change({ id: item.id }, { unset: items.map(({ id }) => `inflight.${id}`) });
  }

  /** Finishes open references of dead processes. */
  async reconcile(): Promise<void> {
    const { refs, items, clock } = this.deps;
    const open = await refs.find({
      filter: elapsed('open_at', ABANDONED_MS, clock.now()),
      sort: [['open_at', 'asc']],
      limit: BATCH_SIZE,
    });
    const docs = await items.find({
      filter: { id: { in: [...new Set(open.items.map((ref) => ref.item_id))] } },
      limit: BATCH_SIZE,
    });
    for (const ref of open.items) {
      const item = docs.items.find(({ id }) => id === ref.item_id);
      // A reference that no item counted was never acknowledged: it goes, and a repeat binds it anew.
      if (item?.inflight[ref.id] === undefined) await refs.remove({ id: ref.id, open_at: ref.open_at });
      else this.finish({ id: ref.id, project: ref.project, item_id: item.id, own: isOwn(item, ref.id), helped: false });
    }
    await this.drain();
  }

  /** Forgets references that are past their time. */
  async forget(signal?: AbortSignal): Promise<void> {
    const { refs, clock } = this.deps;
    await removeAll(refs, { expires_at: { gt: '', lt: clock.iso() } }, signal);
  }

  async drain(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }
}

/** The id of an intake key's reference. No slug is empty, so no token's reference has this id. */
export const toPublicRefId = (project: string, clientRef: string): string =>
  hashWithinProject('', `${project}\u001f${clientRef}`);

/** Whether the reference is the item's own, in either space: remembered as long as the item. */
export const isOwn = ({ client_ref, project }: ItemDoc, ref: string): boolean =>
  client_ref !== null && (hashWithinProject(project, client_ref) === ref || toPublicRefId(project, client_ref) === ref);
