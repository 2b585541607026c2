/**
 * Search texts of items with a description or comments (contract 20, endpoints: `q`), separate from
 * the item, which counting rewrites and lists read.
 *
 * Order: the change with the marker `words_at` in the item → the text is rebuilt by compare-and-set
 * on its number, before the response → the marker is removed. After a crash the job
 * `bugs.reconcile` finds the marker (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { elapsed } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { StoreConflict } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { isEnough, buildWordsText } from '../text/search-text.js';
import type { WordsDoc } from '../item/work-documents.js';

/** Older markers belong to a process that has ended. */
const LEFTOVER_MS = 10_000;
const BATCH_SIZE = 50;
const MAX_COMMENTS = 500;
const ATTEMPTS = 20;

export type WordsDeps = Pick<BugDeps, 'items' | 'texts' | 'comments' | 'words' | 'clock' | 'ids'>;

@injectable()
export class Words {
  constructor(@inject(DEPS) private readonly deps: WordsDeps) {}

  async describe(id: string, description: string | null): Promise<void> {
    const { items, texts, clock, ids } = this.deps;
    await items.change({ id }, { set: { words_at: `${clock.iso()} ${ids.uuid()}` } });
    await texts.change({ id }, { set: { description } }, { upsert: true });
    await this.refresh(id);
  }

  async refresh(id: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await this.#made(id)) return;
  }

  async renew(id: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await this.#made(id, true)) return;
  }

  async reconcile(signal?: AbortSignal): Promise<void> {
    const { items, clock } = this.deps;
    const left = elapsed('words_at', LEFTOVER_MS, clock.now());
    for await (const page of iteratePages(items, { filter: left, sort: [['words_at', 'asc']], limit: BATCH_SIZE })) {
      for (const { id } of page) await this.refresh(id);
      if (signal?.aborted === true) return;
    }
  }

  /**
   * @param ifOther leaves an up-to-date text alone; only for callers without changes of their own
   * @returns false when the text was rebuilt concurrently, possibly from older data
   */
  async #made(id: string, ifOther = false): Promise<boolean> {
    const { items, texts, words } = this.deps;
    // Read first, so that a concurrent rebuild makes this one fail.
    const before = await words.get(id);
    const item = await items.get(id);
    if (item === null) {
      await words.remove({ id });
      return true;
    }
    const { project, words_at } = item;
    const [doc, comments] = await Promise.all([texts.get(id), this.#comments(item)]);
    const description = doc?.description ?? null;
    const text = buildWordsText(item.search_text, description, comments);
    if (ifOther && before?.text === text) return true;
    if (before !== null) {
      if ((await words.change({ id, n: before.n }, { set: { text }, inc: { n: 1 } })) === null) return false;
    } else if (description !== null || comments.length > 0) {
      if (!(await this.#inserted({ id, project, text, n: 1 }))) return false;
    }
    if (words_at !== undefined) await items.change({ id, words_at }, { unset: ['words_at'] });
    return true;
  }

  async #comments({ id, outbox }: ItemDoc): Promise<string[]> {
    const waiting = outbox.filter(({ kind }) => kind === 'comment').toReversed();
    const said = waiting.map(({ data }) => (typeof data['body'] === 'string' ? data['body'] : ''));
    const known = new Set(waiting.map((entry) => entry.id));
    for (let after: string | null = null; ;) {
      const page: Awaited<ReturnType<BugDeps['comments']['find']>> = await this.deps.comments.find({
        filter: { item_id: id },
        sort: [['created_at', 'desc']],
        limit: BATCH_SIZE,
        after,
      });
      said.push(...page.items.flatMap((comment) => (known.has(comment.id) ? [] : [comment.body])));
      after = page.next;
      if (after === null || said.length >= MAX_COMMENTS || isEnough(said)) return said;
    }
  }

  async #inserted(doc: WordsDoc): Promise<boolean> {
    try {
      await this.deps.words.insert(doc);
      return true;
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
  }
}
