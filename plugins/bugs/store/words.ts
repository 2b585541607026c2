/**
 * The searched texts of items that have a description or comments, one document for each item (contract 20, endpoints:
 * `q`). They stand beside the item, since counting an occurrence rewrites the item, and a list reads it.
 *
 * Order: the change, with the marker `words_at` in the item → the text is made anew from all that is stored, by
 * compare-and-set on its number, before the answer → the marker goes. So a text is never older than the last change
 * that was answered. After a crash the job `bugs.reconcile` finds the marker (docs/consistency.md).
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { elapsed } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { StoreConflict } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { isEnough, buildWordsText } from '../text/search-text.js';
import type { WordsDoc } from '../item/work-documents.js';

/** An older marker belongs to a process that is gone. */
const LEFTOVER_MS = 10_000;
const BATCH_SIZE = 50;
/** Comments that are searched, besides their length. */
const MAX_COMMENTS = 500;
/** Attempts against others that make the same text; after them the job has its turn. */
const ATTEMPTS = 20;

export type WordsDeps = Pick<BugDeps, 'items' | 'texts' | 'comments' | 'words' | 'clock' | 'ids'>;

@injectable()
export class Words {
  constructor(@inject(DEPS) private readonly deps: WordsDeps) {}

  /** Changes the description of an item, of whichever text it had. */
  async describe(id: string, description: string | null): Promise<void> {
    const { items, texts, clock, ids } = this.deps;
    await items.change({ id }, { set: { words_at: `${clock.iso()} ${ids.uuid()}` } });
    await texts.change({ id }, { set: { description } }, { upsert: true });
    await this.refresh(id);
  }

  /** Makes the text of an item anew. */
  async refresh(id: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await this.#made(id)) return;
  }

  /** Makes the text of an item anew where it is not what is stored, as after a process that knows no such texts. */
  async renew(id: string): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) if (await this.#made(id, true)) return;
  }

  /** Makes the texts that a crash left. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    const { items, clock } = this.deps;
    const left = elapsed('words_at', LEFTOVER_MS, clock.now());
    for await (const page of iteratePages(items, { filter: left, sort: [['words_at', 'asc']], limit: BATCH_SIZE })) {
      for (const { id } of page) await this.refresh(id);
      if (signal?.aborted === true) return;
    }
  }

  /**
   * @param ifOther a text that is right already stays; only for callers that have changed nothing themselves
   * @returns false: another one was made meanwhile, of which nobody knows what it has read
   */
  async #made(id: string, ifOther = false): Promise<boolean> {
    const { items, texts, words } = this.deps;
    // Read first: a text that is made behind it refuses this one.
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

  /** Newest first; those that still lie in the item are the newest. */
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
