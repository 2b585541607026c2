/**
 * The entries of a change: events for other plugins, entries of the item's history, comments. They are written with the
 * change, inside the item, and leave it afterwards. Where the store has transactions, history and comments are written
 * in their places with the change, and only events go through the item.
 *
 * Order: the change with its entries → comments and history (ids known, so twice is once) → events (lib/outbox.ts).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { Outbox } from '../../../lib/outbox.js';
import { StoreFull, type Filter } from '../../../ports/store.js';
import type { AuthorKind } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { toStatKey } from '../item/stat-kinds.js';
import { UNFILED, listPendingEntries, type ChangeSet } from '../item/change-set.js';
import type { ActivityDoc, CommentDoc, ItemDoc, ItemOutboxEntry } from '../item/model.js';
import { UNFILED_CLAIM, UNFILED_CREATION } from '../item/stored-names.js';
import { Commit, type Write } from './commit.js';

/** Where each write is a command of its own, a row of new groups tells its events together; the first at once. */
const GATHER_MS = 500;

@injectable()
export class ItemOutbox {
  readonly #outbox: Outbox<ItemDoc, ItemOutboxEntry>;

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Commit) private readonly commit: Commit,
  ) {
    this.#outbox = new Outbox({
      rows: deps.items,
      place: (item, entries) => this.#place(item, entries),
      deliver: (item, entry) => this.#deliver(item, entry),
      inOrder: false,
      ...(commit.isTogether ? {} : { gatherMs: GATHER_MS }),
      now: () => deps.clock.now(),
      failed: (err, item) =>
        deps.log.error({ err, item }, 'the outbox of an item could not be emptied; a job repeats it'),
    });
  }

  /**
   * Writes a change with its entries, by compare-and-set.
   * @returns the item, and the entries that are still to be flushed; null: the filter finds none
   */
  async write(
    filter: Filter,
    change: ChangeSet,
  ): Promise<{ doc: ItemDoc; entries: readonly ItemOutboxEntry[] } | null> {
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
  async flush(item: ItemDoc, entries: readonly ItemOutboxEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#place(item, entries);
    this.#outbox.send(item, entries);
  }

  /**
   * Brings the unfiled entries of an item into its history, which is about to be read.
   * @returns the entries that the disk has no room for
   */
  async file(itemId: string): Promise<readonly ItemOutboxEntry[]> {
    const item = await this.deps.items.get(itemId);
    const unfiled = item === null ? [] : listPendingEntries(item);
    if (item === null || unfiled.length === 0) return [];
    const { [UNFILED_CREATION]: creator, [UNFILED_CLAIM]: claimed } = item;
    const change = {
      id: itemId,
      ...(creator !== undefined && { [UNFILED_CREATION]: creator }),
      ...(claimed && { [`${UNFILED_CLAIM}.id`]: claimed.id }),
    };
    const update = { unset: UNFILED.filter((field) => item[field] !== undefined) };
    try {
      // Refused when another call, or a change, was faster: then the entries are in the history already.
      await this.commit.write([
        ...unfiled.map((entry) => ({ collection: 'activity', put: toActivityDocument(item, entry) })),
        { collection: 'items', change, update },
      ]);
      return [];
    } catch (error) {
      if (error instanceof StoreFull) return unfiled;
      throw error;
    }
  }

  async #place(item: ItemDoc, entries: readonly ItemOutboxEntry[]): Promise<void> {
    const notes = entries.filter((entry) => entry.kind === 'activity');
    const comments = entries.filter((entry) => entry.kind === 'comment');
    if (comments.length > 0)
      await this.deps.comments.bulk(comments.map((entry) => ({ insert: toCommentDocument(item, entry) })));
    if (notes.length === 0) return;
    await this.deps.activity.bulk(notes.map((entry) => ({ insert: toActivityDocument(item, entry) })));
  }

  async #deliver({ project }: ItemDoc, { id, kind, name, at, data }: ItemOutboxEntry): Promise<boolean> {
    return kind !== 'event' || this.deps.emit(name, data, { id, timestamp: at, project_slug: project });
  }

  /** Delivers all entries that an item holds; resolves when they are out, or have failed. */
  flushAll(itemId: string): Promise<void> {
    return this.#outbox.sendAll(itemId);
  }

  /** Delivers entries that a crash or a failed listener left behind. Answers how many items had some. */
  reconcile(signal?: AbortSignal): Promise<number> {
    return this.#outbox.reconcile(signal);
  }

  /** Seconds since the oldest change whose events are not out yet; 0: all are. */
  oldestAge(): Promise<number> {
    return this.#outbox.oldestAge();
  }

  /** Resolves when all flushes of this process are done. */
  drain(): Promise<void> {
    return this.#outbox.drain();
  }
}

/** The write that files an entry; null for an event, which is told to other plugins. */
function placeOf(item: ItemDoc, entry: ItemOutboxEntry): Write | null {
  if (entry.kind === 'comment') return { collection: 'comments', insert: toCommentDocument(item, entry) };
  if (entry.kind !== 'activity') return null;
  const doc = toActivityDocument(item, entry);
  // A reader may have filed the entry already.
  return entry.id === item.id || entry.id === item[UNFILED_CLAIM]?.id
    ? { collection: 'activity', put: doc }
    : { collection: 'activity', insert: doc };
}

export const toActivityDocument = (item: Pick<ItemDoc, 'id' | 'project'>, entry: ItemOutboxEntry): ActivityDoc => {
  const { id, at, name, actor, data } = entry;
  const stat = toStatKey(entry, item.project);
  return { id, item_id: item.id, at, action: name, actor, data, ...(stat === undefined ? {} : { stat }) };
};

const isAuthorKind = (kind: unknown): kind is AuthorKind =>
  kind === 'person' || kind === 'agent' || kind === 'integration';

export const toCommentDocument = (item: Pick<ItemDoc, 'id'>, { id, at, actor, data }: ItemOutboxEntry): CommentDoc => ({
  id,
  item_id: item.id,
  body: typeof data['body'] === 'string' ? data['body'] : '',
  author: actor,
  ...(isAuthorKind(data['kind']) && { author_kind: data['kind'] }),
  created_at: at,
});
