/**
 * Separate from the item, which counting rewrites and lists read (contract 20, endpoints: `q`).
 * Order: the change with the marker `words_at` → the text is rebuilt by compare-and-set on its
 * number, before the response → the marker is removed. The job `bugs.reconcile` finishes after a
 * crash (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { StoreConflict, type Collection } from '../../../ports/store/index.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc, TextsDoc, CommentDoc } from '../item/model.js';
import { isOverCommentLimit, buildFullSearchText } from '../text/search-text.js';
import type { SearchTextDoc } from '../item/operation-documents.js';
import type { Ids } from '../../../ports/ids.js';
import type { Clock } from '../../../ports/clock.js';

/** Older markers belong to a process that has ended. */
const STALE_MARKER_MS = 10_000;
const BATCH_SIZE = 50;
const MAX_COMMENTS = 500;
const MAX_ATTEMPTS = 20;

@injectable()
export class SearchTextService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.words) private readonly words: Collection<SearchTextDoc>,
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
  ) {}

  async setDescription(id: string, description: string | null): Promise<void> {
    const { items, texts, clock, ids } = this;
    await items.change({ id }, { set: { words_at: `${clock.iso()} ${ids.uuid()}` } });
    await texts.change({ id }, { set: { description } }, { upsert: true });
    await this.rebuild(id);
  }

  async rebuild(id: string): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) if (await this.#tryRebuild(id)) return;
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const { items, clock } = this;
    const left = buildElapsedFilter('words_at', STALE_MARKER_MS, clock.now());
    for await (const page of iteratePages(items, { filter: left, sort: [['words_at', 'asc']], limit: BATCH_SIZE })) {
      for (const { id } of page) await this.rebuild(id);
      if (signal?.aborted === true) return;
    }
  }

  /** Returns false when rebuilt concurrently, possibly from older data. */
  async #tryRebuild(id: string): Promise<boolean> {
    const { items, texts, words } = this;
    // So that a concurrent rebuild makes this one fail.
    const before = await words.get(id);
    const item = await items.get(id);
    if (item === null) {
      await words.remove({ id });
      return true;
    }
    const { project, words_at } = item;
    const [doc, comments] = await Promise.all([texts.get(id), this.#listComments(item)]);
    const description = doc?.description ?? null;
    const text = buildFullSearchText(item.search_text, description, comments);
    if (before !== null) {
      if ((await words.change({ id, n: before.n }, { set: { text }, inc: { n: 1 } })) === null) return false;
    } else if (description !== null || comments.length > 0) {
      if (!(await this.#insert({ id, project, text, n: 1 }))) return false;
    }
    if (words_at !== undefined) await items.change({ id, words_at }, { unset: ['words_at'] });
    return true;
  }

  async #listComments({ id, outbox }: ItemDoc): Promise<string[]> {
    const waiting = outbox.filter(({ kind }) => kind === 'comment').toReversed();
    const commentBodies = waiting.map(({ data }) => (typeof data['body'] === 'string' ? data['body'] : ''));
    const known = new Set(waiting.map((entry) => entry.id));
    for (let after: string | null = null; ;) {
      const page: Awaited<ReturnType<BugDeps['comments']['find']>> = await this.comments.find({
        filter: { item_id: id },
        sort: [['created_at', 'desc']],
        limit: BATCH_SIZE,
        after,
      });
      commentBodies.push(...page.items.flatMap((comment) => (known.has(comment.id) ? [] : [comment.body])));
      after = page.next;
      if (after === null || commentBodies.length >= MAX_COMMENTS || isOverCommentLimit(commentBodies))
        return commentBodies;
    }
  }

  async #insert(doc: SearchTextDoc): Promise<boolean> {
    try {
      await this.words.insert(doc);
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }
}
