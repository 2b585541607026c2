/**
 * Pages of rows (ports/rendering.ts) that several callers ask for at once, or again while nothing has changed, as
 * agents and boards do: they share one page. How long it is believed is the rule of cached-reads.ts: a write of this
 * process to one of its collections is always seen.
 */
import type { Rendered } from '../../../ports/rendering.js';
import { CachedReads } from './cached-reads.js';
import type { CommitWatch } from './other-commits.js';

/** Pages that are kept, and the bytes of the longest one. Callers share longer ones only while they are read. */
const MOST = 32;
const LONGEST = 256 * 1024;

export class KeptPages {
  readonly #reads: CachedReads;

  /** @param now as `CachedReads` has it */
  constructor(commits: CommitWatch, now?: () => number) {
    this.#reads = new CachedReads(commits, now, MOST);
  }

  /** @param collections whose documents the page is made of. @param read asks for the page that is not known */
  take(collections: readonly string[], asked: string, read: () => Promise<Rendered>): Promise<Rendered> {
    const kept = new Set(collections.map((name) => this.#reads.get(name, asked)));
    const [page] = kept;
    if (page !== undefined && kept.size === 1) return page as Promise<Rendered>;
    const begun = collections.map((name) => [name, this.#reads.begin(name)] as const);
    const reading = read();
    for (const [name, at] of begun) this.#reads.keep(name, asked, reading, at);
    const forget = (): void => {
      for (const name of collections) this.#reads.forget(name, asked, reading);
    };
    reading.then(({ json }) => (json.length > LONGEST ? forget() : undefined), forget);
    return reading;
  }

  /** This process has written to the collection. */
  written(collection: string): void {
    this.#reads.written(collection);
  }
}
