/**
 * Feedback that came before the event that it is about: it is an item of its own, and waits. When the event comes, it
 * becomes a comment on that one's item, and its own item a duplicate of it (contract 21, Sentry SDK intake).
 *
 * What waits is in the store, so a start forgets nothing. The process that counts the event looks into its memory,
 * which costs other reports nothing; what another process was told, or a crash cut off, the job `bugs.reconcile` finds.
 * The comment has an id of its own, so whoever comes second adds none.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { DAY_MS, isoOf } from '../../../lib/time.js';
import { StoreConflict } from '../../../ports/store.js';
import { SYSTEM_CALLER } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { hashOf } from '../item/document-ids.js';
import { Merging } from '../work/merging.js';
import { Items } from '../store/items.js';
import type { ItemDoc } from '../item/model.js';
import type { WaitingDoc } from '../item/work-documents.js';

/** The author of every such comment. The user's name is part of the text, because any name could be sent. */
export const AUTHOR = 'user feedback';
/** Comments of users on one item; further feedback becomes new items. */
export const MOST_COMMENTS = 100;
/** For so long an application may keep its event to itself. */
const WAITING_MS = 7 * DAY_MS;
/** That wait in one project; further ones stay items of their own. */
const MOST_WAITING = 1_000;
const BATCH = 200;

@injectable()
export class WaitingFeedback {
  /** References of events that feedback waits for, as far as this process knows. */
  #events = new Set<string>();

  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Items) private readonly items: Items,
    @inject(Merging) private readonly merging: Merging,
  ) {}

  /** @param given `id` the feedback's own reference, `event` that of what it is about */
  async wait(given: Pick<WaitingDoc, 'id' | 'project' | 'event' | 'body'>): Promise<void> {
    const { waiting, clock } = this.deps;
    if ((await waiting.count({ project: given.project })) >= MOST_WAITING) return;
    this.#events.add(given.event);
    try {
      await waiting.insert({ ...given, expires_at: isoOf(clock.now() + WAITING_MS) });
    } catch (error) {
      if (!(error instanceof StoreConflict)) throw error;
    }
  }

  get isAny(): boolean {
    return this.#events.size > 0;
  }

  /** Whether feedback may wait for the event with this reference. */
  isAwaited(event: string): boolean {
    return this.#events.has(event);
  }

  /** The event was counted: what waits for it is linked. A failure is for the job. */
  async came(event: string): Promise<void> {
    try {
      const { items } = await this.deps.waiting.find({ filter: { event }, limit: BATCH });
      for (const one of items) await this.#link(one);
      this.#events.delete(event);
    } catch (error) {
      this.deps.log.error({ err: error }, 'feedback could not be linked to its event; a job repeats it');
    }
  }

  /** Links what another process was told of, and forgets what waited too long. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    const { waiting, refs, clock } = this.deps;
    await waiting.remove({ expires_at: { lt: clock.iso() } }, 1000);
    const events = new Set<string>();
    let after: string | null = null;
    do {
      const page: { items: WaitingDoc[]; next: string | null } = await waiting.find({
        sort: [['expires_at', 'asc']],
        limit: BATCH,
        after,
      });
      const known = await refs.find({ filter: { id: { in: page.items.map(({ event }) => event) } }, limit: BATCH });
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

  async #link(one: WaitingDoc): Promise<void> {
    const { refs, items, waiting } = this.deps;
    const event = await refs.get(one.event);
    const about = event === null ? null : await items.get(event.item_id);
    // It is still being written.
    if (about === null) return;
    const own = await this.#ownItem(one);
    if (
      own?.id !== about.id &&
      (await this.deps.comments.count({ item_id: about.id, author: AUTHOR })) < MOST_COMMENTS
    ) {
      await this.#comment(about, one);
      if (own !== null) await this.#merge(own, about);
    }
    await waiting.remove({ id: one.id });
  }

  async #comment(about: ItemDoc, { id, body }: WaitingDoc): Promise<void> {
    const comment = hashOf(about.id, id);
    // Asked anew at each attempt: somebody else may link the same feedback at this moment.
    await this.items.change(about.id, AUTHOR, async (item, change) => {
      const known =
        item.outbox.some((entry) => entry.id === comment) || (await this.deps.comments.get(comment)) !== null;
      if (!known) change.comment(body, comment);
    });
  }

  /** The item that the feedback made, while nothing else happened to it. */
  async #ownItem({ id }: WaitingDoc): Promise<ItemDoc | null> {
    const ref = await this.deps.refs.get(id);
    const item = ref === null ? null : await this.deps.items.get(ref.item_id);
    return item !== null && item.status === 'open' && item.hit_count === 1 && item.overflow !== true ? item : null;
  }

  /** Somebody may hold it, or have changed it meanwhile: then it stays as it is, beside the comment. */
  async #merge(own: ItemDoc, about: ItemDoc): Promise<void> {
    try {
      await this.merging.merge(own.id, about.id, SYSTEM_CALLER);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.deps.log.debug({ err: error, ref: own.ref }, 'the item of a feedback stays beside its event');
    }
  }
}
