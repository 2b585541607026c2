/**
 * Feedback that arrives before its event becomes a separate item and waits. When the event arrives,
 * it becomes a comment on the event's item, and its own item a duplicate (contract 21, Sentry SDK
 * intake). Pending feedback is stored; the process that counts the event checks only its own
 * memory. The job `bugs.reconcile` links the rest. The comment's id is fixed, so a second attempt
 * adds nothing.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { DAY_MS, toIsoString } from '../../../lib/time.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import { SYSTEM_CALLER } from '../caller.js';
import { removeAll } from '../../../ports/store/remove-all.js';
import { DEPS } from '../deps.js';
import { hashWithinProject } from '../item/document-ids.js';
import { MergeService } from '../editing/merging.js';
import { ItemService } from '../store/item-service.js';
import type { ItemDoc, RefDoc, CommentDoc } from '../item/model.js';
import type { PendingFeedbackDoc } from '../item/operation-documents.js';
import type { Logger } from '../../../ports/logger.js';
import type { Clock } from '../../../ports/clock.js';

/** The user's name is in the text, because a sender may claim any name. */
export const FEEDBACK_AUTHOR = 'user feedback';
export const MAX_COMMENTS = 100;
const MAX_WAIT_MS = 7 * DAY_MS;
const MAX_WAITING_FEEDBACK = 1_000;
const BATCH_SIZE = 200;

@injectable()
export class PendingFeedbackService {
  #events = new Set<string>();

  constructor(
    @inject(DEPS.items) private readonly itemRows: Collection<ItemDoc>,
    @inject(DEPS.refs) private readonly refs: Collection<RefDoc>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.waiting) private readonly waiting: Collection<PendingFeedbackDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(ItemService) private readonly items: ItemService,
    @inject(MergeService) private readonly merging: MergeService,
  ) {}

  /** @param given `id`: its own reference; `event`: the event's */
  async addPending(given: Pick<PendingFeedbackDoc, 'id' | 'project' | 'event' | 'body'>): Promise<void> {
    const { waiting, clock } = this;
    if ((await waiting.count({ project: given.project })) >= MAX_WAITING_FEEDBACK) return;
    this.#events.add(given.event);
    try {
      await waiting.insert({ ...given, expires_at: toIsoString(clock.now() + MAX_WAIT_MS) });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }

  get hasPending(): boolean {
    return this.#events.size > 0;
  }

  isAwaited(event: string): boolean {
    return this.#events.has(event);
  }

  /** The job retries failures. */
  async linkToEvent(event: string): Promise<void> {
    try {
      const { items } = await this.waiting.find({ filter: { event }, limit: BATCH_SIZE });
      for (const one of items) await this.#link(one);
      this.#events.delete(event);
    } catch (error) {
      this.log.error({ err: error }, 'feedback could not be linked to its event; a job will retry');
    }
  }

  async deleteExpired(signal?: AbortSignal): Promise<void> {
    const { waiting, clock } = this;
    await removeAll(waiting, { expires_at: { lt: clock.iso() } }, signal);
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const { waiting, refs } = this;
    const events = new Set<string>();
    let after: string | null = null;
    do {
      const page: { items: PendingFeedbackDoc[]; next: string | null } = await waiting.find({
        sort: [['expires_at', 'asc']],
        limit: BATCH_SIZE,
        after,
      });
      const known = await refs.find({
        filter: { id: { in: page.items.map(({ event }) => event) } },
        limit: BATCH_SIZE,
      });
      const come = new Set(known.items.map(({ id }) => id));
      for (const one of page.items) {
        signal?.throwIfAborted();
        if (come.has(one.event)) await this.#link(one);
        else events.add(one.event);
      }
      after = page.next;
    } while (after !== null);
    this.#events = events;
  }

  async #link(one: PendingFeedbackDoc): Promise<void> {
    const { refs, itemRows: items, waiting } = this;
    const event = await refs.get(one.event);
    const about = event === null ? null : await items.get(event.item_id);
    // Its item is still being written.
    if (about === null) return;
    const own = await this.#findOwnItem(one);
    if (
      own?.id !== about.id &&
      (await this.comments.count({ item_id: about.id, author: FEEDBACK_AUTHOR })) < MAX_COMMENTS
    ) {
      await this.#addComment(about, one);
      if (own !== null) await this.#merge(own, about);
    }
    await waiting.remove({ id: one.id });
  }

  async #addComment(about: ItemDoc, { id, body }: PendingFeedbackDoc): Promise<void> {
    const comment = hashWithinProject(about.id, id);
    // Another process may link the same feedback.
    await this.items.change(about.id, FEEDBACK_AUTHOR, async (item, change) => {
      const known = item.outbox.some((entry) => entry.id === comment) || (await this.comments.get(comment)) !== null;
      if (!known) change.addComment(body, 'integration', comment);
    });
  }

  async #findOwnItem({ id }: PendingFeedbackDoc): Promise<ItemDoc | null> {
    const ref = await this.refs.get(id);
    const item = ref === null ? null : await this.itemRows.get(ref.item_id);
    return item !== null && item.status === 'open' && item.hit_count === 1 && item.overflow !== true ? item : null;
  }

  /** An item that someone claimed or changed stays, in addition to the comment. */
  async #merge(own: ItemDoc, about: ItemDoc): Promise<void> {
    try {
      await this.merging.merge(own.id, about.id, SYSTEM_CALLER);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.log.debug({ err: error, ref: own.ref }, 'the item of a feedback could not be merged with its event');
    }
  }
}
