/**
 * Events, history entries and comments, written inside the item with the change; with transactions,
 * only events. Order: the change → comments and history (fixed ids make repeats idempotent) →
 * events (lib/outbox.ts).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { Outbox } from '../../../lib/outbox.js';
import { StoreFull, type Filter, type Collection } from '../../../ports/store/index.js';
import type { AuthorKind } from '../caller.js';
import { DEPS } from '../deps.js';
import { toStatKey } from '../item/stat-kinds.js';
import { UNFILED_FIELDS, listPendingEntries, type ChangeSet } from '../item/change-set.js';
import type { ActivityDoc, CommentDoc, ItemDoc, ItemOutboxEntry } from '../item/model.js';
import { UNFILED_CLAIM_FIELD, UNFILED_CREATION_FIELD } from '../item/stored-field-names.js';
import { WriteCommitter, type DocumentWrite } from './write-committer.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';

/** Without batched writes, several groups' events are emitted together; the first immediately. */
const BATCH_WINDOW_MS = 500;

@injectable()
export class ItemOutbox {
  readonly #outbox: Outbox<ItemDoc, ItemOutboxEntry>;

  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.clock) clock: Clock,
    @inject(DEPS.log) log: Logger,
    @inject(DEPS.emit)
    private readonly emit: (
      event: string,
      data: object,
      options: { id: string; timestamp: string; project_slug: string },
    ) => Promise<boolean>,
    @inject(WriteCommitter) private readonly commit: WriteCommitter,
  ) {
    this.#outbox = new Outbox({
      rows: items,
      place: (item, entries) => this.#storeEntries(item, entries),
      deliver: (item, entry) => this.#deliver(item, entry),
      inOrder: false,
      ...(commit.isAtomic ? {} : { gatherMs: BATCH_WINDOW_MS }),
      now: () => clock.now(),
      onFailed: (err, item) => log.error({ err, item }, 'the outbox of an item could not be emptied; a job will retry'),
    });
  }

  /**
   * Writes by compare-and-set.
   * @returns the item and the entries still to flush; null when the filter matches none
   */
  async write(
    filter: Filter,
    change: ChangeSet,
  ): Promise<{ doc: ItemDoc; entries: readonly ItemOutboxEntry[] } | null> {
    const { item, pendingEntries: written } = change;
    const { along, waiting } = this.commit.partition(written, (entry) => toFilingWrite(item, entry));
    const update = change.toUpdate(waiting);
    const done = await this.commit.write([{ collection: 'items', change: filter, update, answer: true }, ...along]);
    return done && { doc: done.docs[0] as ItemDoc, entries: waiting };
  }

  /**
   * Runs before the response; events follow after it.
   * @param entries of the caller; the writing process flushes others
   */
  async flush(item: ItemDoc, entries: readonly ItemOutboxEntry[]): Promise<void> {
    if (entries.length === 0) return;
    await this.#storeEntries(item, entries);
    this.#outbox.send(item, entries);
  }

  /**
   * Runs before the history is read.
   * @returns entries that could not be stored because the disk is full
   */
  async fileEntries(itemId: string): Promise<readonly ItemOutboxEntry[]> {
    const item = await this.items.get(itemId);
    const unfiled = item === null ? [] : listPendingEntries(item);
    if (item === null || unfiled.length === 0) return [];
    const { [UNFILED_CREATION_FIELD]: creator, [UNFILED_CLAIM_FIELD]: claimed } = item;
    const change = {
      id: itemId,
      ...(creator !== undefined && { [UNFILED_CREATION_FIELD]: creator }),
      ...(claimed && { [`${UNFILED_CLAIM_FIELD}.id`]: claimed.id }),
    };
    const update = { unset: UNFILED_FIELDS.filter((field) => item[field] !== undefined) };
    try {
      // When rejected, the history has the entries already.
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

  async #storeEntries(item: ItemDoc, entries: readonly ItemOutboxEntry[]): Promise<void> {
    const notes = entries.filter((entry) => entry.kind === 'activity');
    const comments = entries.filter((entry) => entry.kind === 'comment');
    if (comments.length > 0)
      await this.comments.bulk(comments.map((entry) => ({ insert: toCommentDocument(item, entry) })));
    if (notes.length === 0) return;
    await this.activity.bulk(notes.map((entry) => ({ insert: toActivityDocument(item, entry) })));
  }

  async #deliver({ project }: ItemDoc, { id, kind, name, at, data }: ItemOutboxEntry): Promise<boolean> {
    return kind !== 'event' || this.emit(name, data, { id, timestamp: at, project_slug: project });
  }

  flushAll(itemId: string): Promise<void> {
    return this.#outbox.sendAll(itemId);
  }

  reconcile(signal?: AbortSignal): Promise<number> {
    return this.#outbox.reconcile(signal);
  }

  getOldestAge(): Promise<number> {
    return this.#outbox.getOldestAge();
  }

  drain(): Promise<void> {
    return this.#outbox.drain();
  }
}

/** Returns null for an event. */
function toFilingWrite(item: ItemDoc, entry: ItemOutboxEntry): DocumentWrite | null {
  if (entry.kind === 'comment') return { collection: 'comments', insert: toCommentDocument(item, entry) };
  if (entry.kind !== 'activity') return null;
  const doc = toActivityDocument(item, entry);
  return entry.id === item.id || entry.id === item[UNFILED_CLAIM_FIELD]?.id
    ? { collection: 'activity', put: doc }
    : { collection: 'activity', insert: doc };
}

export const toActivityDocument = (item: Pick<ItemDoc, 'id' | 'project'>, entry: ItemOutboxEntry): ActivityDoc => {
  const { id, at, name, actor, agent, data } = entry;
  const stat = toStatKey(entry, item.project);
  const more = { ...(agent !== undefined && { agent }), ...(stat !== undefined && { stat }) };
  return { id, item_id: item.id, at, action: name, actor, data, ...more };
};

const isAuthorKind = (kind: unknown): kind is AuthorKind =>
  kind === 'person' || kind === 'agent' || kind === 'integration';

export const toCommentDocument = (
  item: Pick<ItemDoc, 'id'>,
  { id, at, actor, agent, data }: ItemOutboxEntry,
): CommentDoc => ({
  id,
  item_id: item.id,
  body: typeof data['body'] === 'string' ? data['body'] : '',
  author: actor,
  ...(agent !== undefined && { agent }),
  ...(isAuthorKind(data['kind']) && { author_kind: data['kind'] }),
  created_at: at,
});
