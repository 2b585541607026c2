/**
 * Documents and short lists that every request or event asks for again, such as a token, its account or the rules of
 * notifications: read and parsed once, which spares 5 to 10 % of the event loop's time per report and most of what
 * the reading threads did.
 *
 * Writes of this process are always seen: an acknowledged write makes its collection forgotten before its caller is
 * answered. Another process on the same file is a command: what is kept was true at most a few milliseconds ago, less
 * than a command takes to end after its last commit. Each transaction of the writer looks whether another process has
 * committed (other-commits.ts), so under load one look keeps everything that is known. Where nobody writes, SQLite says
 * that nobody has, and all stays known.
 */
import { monotonicMs, type CommitWatch } from './other-commits.js';

/** Milliseconds that an answer is believed after it was read, or after the last look for other commits. */
const KEPT_MS = 5;
const MOST = 1_000;

/** Where a read began: what it answers is kept if nothing was written and nothing forgotten since. */
export interface Begun {
  at: number;
  written: number;
  cleared: number;
}

export class CachedReads {
  /** Collection → what was asked of it → the answer. */
  readonly #answers = new Map<string, Map<string, unknown>>();
  /** Collection → acknowledged writes, of those that were read. */
  readonly #written = new Map<string, number>();
  #size = 0;
  #cleared = 0;
  /** When the first of the reads began. */
  #oldest = 0;
  /** As it was when all that is kept was read. */
  #others: number;
  /** As it was before all that is kept was read; null: not asked since all was forgotten. */
  #version: number | null = null;
  readonly #commits: CommitWatch;
  readonly #versionNow: () => number;
  readonly #now: () => number;
  readonly #most: number;

  /**
   * @param version a number that moves with each commit to the file, whoever makes it. @param now as `monotonicMs`
   * @param most answers that are kept; one more, and all are forgotten
   */
  constructor(commits: CommitWatch, version: () => number, now: () => number = monotonicMs, most = MOST) {
    this.#most = most;
    this.#commits = commits;
    this.#others = commits.others;
    this.#versionNow = version;
    this.#now = now;
  }

  /** Undefined: nothing is kept, and the caller reads. */
  get(collection: string, asked: string): unknown {
    if (this.#size === 0) return undefined;
    const now = this.#now();
    const known = Math.max(this.#oldest, this.#look());
    if (now - known >= KEPT_MS) {
      if (this.#versionNow() === this.#version) this.#oldest = now;
      else this.#clear();
    }
    return this.#answers.get(collection)?.get(asked);
  }

  begin(collection: string): Begun {
    this.#look();
    this.#version ??= this.#versionNow();
    const written = this.#written.get(collection) ?? 0;
    this.#written.set(collection, written);
    return { at: this.#now(), written, cleared: this.#cleared };
  }

  keep(collection: string, asked: string, answer: unknown, { at, written, cleared }: Begun): void {
    if (written !== this.#written.get(collection) || cleared !== this.#cleared) return;
    if (this.#size >= this.#most) this.#clear();
    this.#oldest = this.#size === 0 ? at : Math.min(this.#oldest, at);
    const answers = this.#answers.get(collection) ?? new Map<string, unknown>();
    // Several callers may have read the same at once.
    if (!answers.has(asked)) this.#size += 1;
    this.#answers.set(collection, answers.set(asked, answer));
  }

  /** Forgets this answer. */
  forget(collection: string, asked: string, answer: unknown): void {
    const answers = this.#answers.get(collection);
    if (answers?.get(asked) !== answer) return;
    answers?.delete(asked);
    this.#size -= 1;
  }

  /** This process has written to the collection. */
  written(collection: string): void {
    const times = this.#written.get(collection);
    if (times === undefined) return;
    this.#written.set(collection, times + 1);
    this.#size -= this.#answers.get(collection)?.size ?? 0;
    this.#answers.delete(collection);
  }

  /** Forgets all when another process has committed. Answers up to when none has. */
  #look(): number {
    const { at } = this.#commits;
    const { others } = this.#commits;
    if (others !== this.#others) this.#clear();
    this.#others = others;
    return at;
  }

  #clear(): void {
    this.#answers.clear();
    this.#size = 0;
    this.#version = null;
    this.#cleared += 1;
  }
}
