/**
 * The entries of a change: events for other plugins, entries of the item's history, comments. They are written with the
 * change, inside the item, and leave it afterwards. Where the store has transactions, history and comments are written in
 * their places with the change, and only events go through the item.
 *
 * Order: the change with its entries → comments and history (ids known, so twice is once) → `emit`, which stores deliveries
 * → the outbox is emptied, guarded by `outbox_at`. A crash anywhere leaves `outbox_at`, by which the job finds the item.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { pages } from '../../../lib/paging.js';
import { isoOf } from '../../../lib/time.js';
import { StoreFull, type Filter, type Find } from '../../../ports/store.js';
import { DEPS, type Deps } from '../deps.js';
import { statOf } from '../item/stat-kinds.js';
import { waitingIn, WAITING, type ChangeSet } from '../item/change-set.js';
import type { ActivityDoc, CommentDoc, ItemDoc, OutboxEntry } from '../item/model.js';
import { Commit, type Write } from './commit.js';

/** Entries older than this belong to a dead process, or to a listener that failed. */
const LEFTOVER_MS = 10_000;
const BATCH = 100;

@injectable()
export class Outbox {
  /** Ids under way in this process: a second flush of the same item leaves them alone. */
  readonly #busy = new Set<string>();
  readonly #background = new Set<Promise<void>>();

  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Commit) private readonly commit: Commit,
  ) {}

  /**
   * Writes a change with its entries, by compare-and-set.
   * @returns the item, and the entries that are still to be flushed; null: the filter finds none
   */
  async write(filter: Filter, change: ChangeSet): Promise<{ doc: ItemDoc; entries: readonly OutboxEntry[] } | null> {
    const { item, written } = change;
    const { along, waiting } = this.commit.sorted(written, (entry) => placeOf(item, entry));
    const update = change.update(waiting);
    const done = await this.commit.write([{ collection: 'items', change: filter, update, answer: true }, ...along]);
    return done && { doc: done.docs[0] as ItemDoc, entries: waiting };
  }

  /**
   * Stores comments and history before it answers; events go out behind the answer.
   * @param entries those that the caller wrote: others are under way in the process that wrote them
   */
  async flush(item: ItemDoc, entries: readonly OutboxEntry[]): Promise<void> {
    const mine = entries.filter((entry) => !this.#busy.has(entry.id));
    if (mine.length === 0) return;
    for (const entry of mine) this.#busy.add(entry.id);
    try {
      await this.#history(item, mine);
    } catch (error) {
      for (const entry of mine) this.#busy.delete(entry.id);
      throw error;
    }
    const task = this.#events(item, mine);
    this.#background.add(task);
    void task.finally(() => this.#background.delete(task));
  }

  /**
   * Brings the entries that wait in an item into its history, which is about to be read.
   * @returns those that the disk has no room for
   */
  async file(itemId: string): Promise<readonly OutboxEntry[]> {
    const item = await this.deps.items.get(itemId);
    const waiting = item === null ? [] : waitingIn(item);
    if (item === null || waiting.length === 0) return [];
    const { made_by, noted } = item;
    const change = { id: itemId, ...(made_by !== undefined && { made_by }), ...(noted && { 'noted.id': noted.id }) };
    const update = { unset: WAITING.filter((field) => item[field] !== undefined) };
    try {
      // Refused when another call, or a change, was faster: then they are where they belong.
      await this.commit.write([
        ...waiting.map((entry) => ({ collection: 'activity', put: activityOf(item, entry) })),
        { collection: 'items', change, update },
      ]);
      return [];
    } catch (error) {
      if (error instanceof StoreFull) return waiting;
      throw error;
    }
  }

  async #history(item: ItemDoc, entries: readonly OutboxEntry[]): Promise<void> {
    const notes = entries.filter((entry) => entry.kind === 'activity');
    const comments = entries.filter((entry) => entry.kind === 'comment');
    if (comments.length > 0)
      await this.deps.comments.bulk(comments.map((entry) => ({ insert: commentOf(item, entry) })));
    if (notes.length === 0) return;
    await this.deps.activity.bulk(notes.map((entry) => ({ insert: activityOf(item, entry) })));
  }

  async #events(item: ItemDoc, entries: readonly OutboxEntry[]): Promise<void> {
    const gone: string[] = [];
    try {
      for (const entry of entries) {
        const options = { id: entry.id, timestamp: entry.at, project_slug: item.project };
        if (entry.kind !== 'event' || (await this.deps.emit(entry.name, entry.data, options))) gone.push(entry.id);
      }
      await this.#forget(item, gone);
    } catch (error) {
      this.deps.log.error(
        { err: error, item: item.id },
        'the outbox of an item could not be emptied; a job repeats it',
      );
    } finally {
      for (const entry of entries) this.#busy.delete(entry.id);
    }
  }

  async #forget(item: ItemDoc, gone: readonly string[]): Promise<void> {
    const { items } = this.deps;
    if (gone.length === item.outbox.length) {
      const { id, outbox_at } = item;
      const update = { set: { outbox: [], outbox_at: null } };
      // In bulk, because its answer does not bring the item back.
      const [emptied] = await items.bulk([{ change: { id, outbox_at }, update }]);
      if (emptied !== undefined && 'n' in emptied && emptied.n > 0) return;
    }
    await items.change({ id: item.id }, { pull: { outbox: { field: 'id', in: gone } } });
  }

  /** Flushes what a crash or a failed listener left behind. Answers how many items had something. */
  async reconcile(signal?: AbortSignal): Promise<number> {
    const before = isoOf(this.deps.clock.now() - LEFTOVER_MS);
    const waiting: Find = { filter: { outbox_at: { gt: '', lt: before } }, sort: [['outbox_at', 'asc']], limit: BATCH };
    let n = 0;
    for await (const items of pages(this.deps.items, waiting)) {
      for (const item of items) {
        if (item.outbox.length === 0)
          await this.deps.items.change({ id: item.id, outbox_at: item.outbox_at }, { set: { outbox_at: null } });
        else await this.flush(item, item.outbox);
      }
      await this.drain();
      n += items.length;
      if (signal?.aborted === true) break;
    }
    return n;
  }

  /** Seconds since the oldest change whose events are not out yet; 0: all are. */
  async oldestAge(): Promise<number> {
    const { items, clock } = this.deps;
    const page = await items.find({ filter: { outbox_at: { gt: '' } }, sort: [['outbox_at', 'asc']], limit: 1 });
    const at = page.items[0]?.outbox_at;
    // `outbox_at` is a time and the id of the last entry.
    return at ? Math.max(0, (clock.now() - Date.parse(at.split(' ', 1)[0] ?? '')) / 1000) : 0;
  }

  /** Resolves when all flushes of this process are done. */
  async drain(): Promise<void> {
    while (this.#background.size > 0) await Promise.all(this.#background);
  }
}

/** Where an entry belongs; null for an event, which other plugins are told. */
function placeOf(item: ItemDoc, entry: OutboxEntry): Write | null {
  if (entry.kind === 'comment') return { collection: 'comments', insert: commentOf(item, entry) };
  if (entry.kind !== 'activity') return null;
  const doc = activityOf(item, entry);
  // A reader may have brought an entry there that waited in the item.
  return entry.id === item.id || entry.id === item.noted?.id
    ? { collection: 'activity', put: doc }
    : { collection: 'activity', insert: doc };
}

export const activityOf = (item: Pick<ItemDoc, 'id' | 'project'>, entry: OutboxEntry): ActivityDoc => {
  const { id, at, name, actor, data } = entry;
  const stat = statOf(entry, item.project);
  return { id, item_id: item.id, at, action: name, actor, data, ...(stat === undefined ? {} : { stat }) };
};

export const commentOf = (item: Pick<ItemDoc, 'id'>, { id, at, actor, data }: OutboxEntry): CommentDoc => ({
  id,
  item_id: item.id,
  body: typeof data['body'] === 'string' ? data['body'] : '',
  author: actor,
  created_at: at,
});
