/**
 * Stores are restored from backups and files are edited by hand (docs/consistency.md, releases).
 * Unchanged tags avoid repeated reads.
 */
import { inject, injectable, type Logger } from '../../../kernel/contract/index.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { StoreDamaged } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { ChannelDocumentWriter } from './channel-documents.js';
import { ProductLock } from './product-lock.js';
import { readStoredText } from './stored-text.js';
import type { ReleaseStore } from '../../../ports/release-store.js';

const LATEST_FILE_NAME = 'latest.json';
const MAX_CACHED_TAGS = 20_000;

@injectable()
export class LatestFileRepairer {
  /** By path. A change of the documents writes the file, which changes its tag. */
  readonly #matchedTags = new BoundedMap<string>({ most: MAX_CACHED_TAGS });

  constructor(
    @inject(DEPS.store) private readonly store: ReleaseStore,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ChannelDocumentWriter) private readonly channels: ChannelDocumentWriter,
    @inject(ProductLock) private readonly lock: ProductLock,
  ) {}

  /** @param all also reads files that matched before */
  async repair({ all = false, signal }: { all?: boolean; signal?: AbortSignal | undefined } = {}): Promise<void> {
    await this.index.load();
    if (all) this.#matchedTags.clear();
    for (const product of this.index.listProducts()) {
      if (signal?.aborted === true) return;
      if (await this.#isConsistent(product)) continue;
      await this.#repairProduct(product);
    }
  }

  /** Unreadable releases do not block other products. */
  async #repairProduct(product: string): Promise<void> {
    try {
      await this.lock.run(product, () => this.#writeDifferences(product));
    } catch (err) {
      if (!(err instanceof StoreDamaged)) throw err;
      this.log.error({ err, product }, 'latest.json could not be rewritten: a release of the product is damaged');
    }
  }

  /**
   * Runs under the product's lock. Catches up first, so that a change by another process is not a
   * difference.
   */
  async #writeDifferences(product: string): Promise<void> {
    await this.index.catchUp(product);
    const channels = await this.#listDifferingChannels(product);
    if (channels.length === 0 && (await this.#isProductFileConsistent(product))) return;
    this.log.warn({ product, channels }, 'latest.json differed from the releases and was rewritten');
    await this.channels.write(product, new Set(channels));
  }

  async #isConsistent(product: string): Promise<boolean> {
    return (await this.#listDifferingChannels(product)).length === 0 && (await this.#isProductFileConsistent(product));
  }

  async #listDifferingChannels(product: string): Promise<string[]> {
    const differs: string[] = [];
    for (const channel of this.index.listChannels(product)) {
      const fits = (document: unknown): boolean =>
        isEqualJson(getReleases(document), this.#getExpectedReleases(product, channel));
      if (!(await this.#matchesFile([product, channel, LATEST_FILE_NAME], fits))) differs.push(channel);
    }
    return differs;
  }

  #isProductFileConsistent(product: string): Promise<boolean> {
    const names = this.index.listChannels(product);
    return this.#matchesFile([product, LATEST_FILE_NAME], (document) => {
      const channels = getMember(document, 'channels');
      if (typeof channels !== 'object' || channels === null) return false;
      return (
        isEqualJson(Object.keys(channels).toSorted(), names) &&
        names.every((name) =>
          isEqualJson(getReleases(getMember(channels, name)), this.#getExpectedReleases(product, name)),
        )
      );
    });
  }

  #getExpectedReleases(product: string, channel: string): object {
    return this.channels.buildDocument(product, channel).releases;
  }

  async #matchesFile(path: readonly string[], fits: (document: unknown) => boolean): Promise<boolean> {
    const store = this.store;
    const key = path.join('/');
    const tag = (await store.open(path))?.tag;
    if (tag === undefined) return false;
    if (this.#matchedTags.get(key) === tag) return true;
    if (!fits(parseJson((await readStoredText(store, path)) ?? ''))) return false;
    this.#matchedTags.set(key, tag);
    return true;
  }
}

const isEqualJson = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);
const getMember = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
const getReleases = (document: unknown): unknown => getMember(document, 'releases');

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
