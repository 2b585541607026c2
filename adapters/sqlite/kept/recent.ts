/**
 * Documents that the writer changed lately by their ids, parsed, so that the next change of one neither selects nor
 * parses it again: a storm changes the same few hundred items all the time. They equal the documents of the file at
 * any moment: only this connection writes while it holds the lock, a commit of another connection is noticed before
 * the first look (../connection/connection.ts), and a rollback forgets them all.
 */
import type { Doc } from '../../../ports/store.js';

/** Characters of the bodies of one generation; there are two. Some 600 items of the bug tracker, or 1,300 monitors. */
const MOST = 1_572_864;
/** Characters of the longest body that is kept: larger documents change seldom, and take the room of many. */
const LARGEST = 16_384;

export interface RecentDoc {
  /** Null: the document was inserted, and nobody has asked for its row number. */
  rowid: number | null;
  /** Null while the document is being changed, so that a change that fails halfway leaves nothing to use. */
  doc: Doc | null;
  /** Characters of its body. */
  length: number;
  /** The `Recent.catchUps` in which its row was marked (../schema/mark.ts); other numbers: perhaps the mark is gone. */
  marked: number | null;
}

export class Recent {
  /** Counts the catch-ups of indexes, each of which may have taken any mark away. */
  catchUps = 0;
  #docs = new Map<string, RecentDoc>();
  #older = new Map<string, RecentDoc>();
  /** Characters of `#docs`. */
  #characters = 0;
  /** Collections of which documents are changed by their id. */
  readonly #changing = new Set<string>();

  get(collection: string, id: string): RecentDoc | undefined {
    const key = keyOf(collection, id);
    const known = this.#docs.get(key);
    if (known !== undefined) return known;
    const older = this.#older.get(key);
    if (older !== undefined) this.#keep(key, older);
    return older;
  }

  /** A document as it was changed. @param length characters of its body now */
  set(collection: string, id: string, recent: RecentDoc, length: number): void {
    this.#changing.add(collection);
    if (length > LARGEST) return this.drop(collection, id);
    const key = keyOf(collection, id);
    const known = this.#docs.get(key);
    if (known !== undefined) this.#characters += length - known.length;
    recent.length = length;
    this.#keep(key, recent);
  }

  /**
   * A document that was inserted is kept where documents are changed soon, as an item whose events are out.
   * @param length characters of its body
   * @param marked whether its row is marked
   */
  added(collection: string, id: string, doc: Doc, length: number, marked: boolean): void {
    if (length > LARGEST || !this.#changing.has(collection)) return;
    this.#keep(keyOf(collection, id), { rowid: null, doc, length, marked: marked ? this.catchUps : null });
  }

  drop(collection: string, id: string): void {
    const key = keyOf(collection, id);
    this.#characters -= this.#docs.get(key)?.length ?? 0;
    this.#docs.delete(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#docs.clear();
    this.#older.clear();
    this.#characters = 0;
  }

  #keep(key: string, recent: RecentDoc): void {
    if (this.#characters >= MOST) {
      this.#older = this.#docs;
      this.#docs = new Map();
      this.#characters = 0;
    }
    if (!this.#docs.has(key)) this.#characters += recent.length;
    this.#docs.set(key, recent);
  }
}

const keyOf = (collection: string, id: string): string => `${collection} ${id}`;
