/**
 * Pages of rows (ports/rendering.ts) that several callers ask for at once, or again while nothing has changed, as
 * agents and boards do: they share one page. How long it is believed is the rule of cached-reads.ts: a write of this
 * process to one of its collections is always seen.
 */
import type { Rendered } from '../../../ports/rendering.js';
import { CachedReads } from './cached-reads.js';
import type { CommitWatch } from './other-commits.js';

/** Pages that are kept, and the bytes of the longest one. Callers share longer ones only while they are read. */
const MOST = 64;
const LONGEST = 128 * 1024;

export class KeptPages {
  readonly #reads: CachedReads;
  /** Collection → the names of those of which pages are made with it. */
  readonly #with = new Map<string, Set<string>>();

  /** @param version, now as `CachedReads` has them */
  constructor(commits: CommitWatch, version: () => number, now?: () => number) {
    this.#reads = new CachedReads(commits, version, now, MOST);
  }

  /** @param collections whose documents the page is made of. @param read asks for the page that is not known */
  take(collections: readonly string[], asked: string, read: () => Promise<Rendered>): Promise<Rendered> {
    const together = this.#together(collections);
    const kept = this.#reads.get(together, asked);
    if (kept !== undefined) return kept as Promise<Rendered>;
    const begun = this.#reads.begin(together);
    const reading = read();
    this.#reads.keep(together, asked, reading, begun);
    const forget = (): void => this.#reads.forget(together, asked, reading);
    reading.then(({ json }) => (json.length > LONGEST ? forget() : undefined), forget);
    return reading;
  }

  /** This process has written to the collection. */
  written(collection: string): void {
    for (const together of this.#with.get(collection) ?? []) this.#reads.written(together);
  }

  /** One name for collections of which pages are made. */
  #together(collections: readonly string[]): string {
    const together = collections.join(' ');
    for (const name of collections) {
      const known = this.#with.get(name);
      if (known === undefined) this.#with.set(name, new Set([together]));
      else known.add(together);
    }
    return together;
  }
}
