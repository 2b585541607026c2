/**
 * Compares `latest.json` files with the documents (docs/consistency.md, releases), because stores
 * are restored from backups and files are edited by hand. Unchanged tags avoid repeated reads.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { ReleaseIndex } from '../asking/release-index.js';
import { StoreDamaged } from '../../../ports/store.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { ChannelDocuments } from './channel-documents.js';
import { ProductLock } from './product-lock.js';
import { readStoredText } from './stored-text.js';

const LATEST = 'latest.json';
const MOST_HELD = 20_000;

@injectable()
export class LatestFiles {
  /**
   * Tags of files that matched, by path. A change of the documents writes the file, which changes
   * its tag.
   */
  readonly #agreed = new BoundedMap<string>({ most: MOST_HELD });

  constructor(
    @inject(DEPS) private readonly deps: Pick<ReleaseDeps, 'store' | 'log'>,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ChannelDocuments) private readonly channels: ChannelDocuments,
    @inject(ProductLock) private readonly lock: ProductLock,
  ) {}

  /**
   * Writes the files that differ.
   * @param all also reads files that matched before
   */
  async mend({ all = false, signal }: { all?: boolean; signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.index.read();
    if (all) this.#agreed.clear();
    for (const product of this.index.products()) {
      if (signal?.aborted === true) return;
      if (await this.#agrees(product)) continue;
      await this.#mended(product);
    }
  }

  /** Files of a product with an unreadable release stay unchanged and do not block others. */
  async #mended(product: string): Promise<void> {
    try {
      await this.lock.run(product, () => this.#write(product));
    } catch (err) {
      if (!(err instanceof StoreDamaged)) throw err;
      this.deps.log.error({ err, product }, 'latest.json is not written anew: a release of the product is damaged');
    }
  }

  /**
   * Runs under the product's lock. Catches up first, so that a change by another process is not a
   * difference.
   */
  async #write(product: string): Promise<void> {
    await this.index.catchUp(product);
    const channels = await this.#differing(product);
    if (channels.length === 0 && (await this.#holds(product))) return;
    this.deps.log.warn({ product, channels }, 'latest.json differed from the releases, and is written anew');
    await this.channels.write(product, new Set(channels));
  }

  async #agrees(product: string): Promise<boolean> {
    return (await this.#differing(product)).length === 0 && (await this.#holds(product));
  }

  async #differing(product: string): Promise<string[]> {
    const differs: string[] = [];
    for (const channel of this.index.channelsOf(product)) {
      const fits = (document: unknown): boolean => same(releasesOf(document), this.#wanted(product, channel));
      if (!(await this.#fits([product, channel, LATEST], fits))) differs.push(channel);
    }
    return differs;
  }

  #holds(product: string): Promise<boolean> {
    const names = this.index.channelsOf(product);
    return this.#fits([product, LATEST], (document) => {
      const channels = memberOf(document, 'channels');
      if (typeof channels !== 'object' || channels === null) return false;
      return (
        same(Object.keys(channels).toSorted(), names) &&
        names.every((name) => same(releasesOf(memberOf(channels, name)), this.#wanted(product, name)))
      );
    });
  }

  #wanted(product: string, channel: string): object {
    return this.channels.document(product, channel).releases;
  }

  async #fits(path: readonly string[], fits: (document: unknown) => boolean): Promise<boolean> {
    const { store } = this.deps;
    const key = path.join('/');
    const tag = (await store.open(path))?.tag;
    if (tag === undefined) return false;
    if (this.#agreed.get(key) === tag) return true;
    if (!fits(parsed((await readStoredText(store, path)) ?? ''))) return false;
    this.#agreed.set(key, tag);
    return true;
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const releasesOf = (document: unknown): unknown => memberOf(document, 'releases');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
