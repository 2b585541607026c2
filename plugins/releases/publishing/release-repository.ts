/** Each write compares the revision it was based on. */
import { findReadable, inject, injectable, type Collection } from '../../../kernel/contract/index.js';
import { conflict } from '../../../kernel/errors.js';
import { collectAll } from '../../../lib/paging.js';
import { StoreConflict, type Filter, type Page, type Update } from '../../../ports/store/index.js';
import { ReleaseIndex } from '../update-check/release-index.js';
import { DEPS } from '../deps.js';
import type { ReleaseDoc } from '../model.js';
import { PLATFORMS } from '../../../lib/formats/platform.js';
import { getReleaseId } from '../release-place.js';
import { ReleaseTimestamps } from '../release-timestamps.js';

const PAGE_SIZE = 200;
type ReleaseUpdate = Partial<Omit<ReleaseDoc, 'id' | 'rev' | 'updated_at'>>;

@injectable()
export class ReleaseRepository {
  constructor(
    @inject(DEPS.releases) private readonly releases: Collection<ReleaseDoc>,
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(ReleaseTimestamps) private readonly stamps: ReleaseTimestamps,
  ) {}

  get(id: string): Promise<ReleaseDoc | null> {
    return this.releases.get(id);
  }

  list(filter: Filter): Promise<ReleaseDoc[]> {
    return collectAll(this.releases, { filter, limit: PAGE_SIZE });
  }

  async listReadable(filter: Filter): Promise<ReleaseDoc[]> {
    const query = { filter, sort: [['published_at', 'desc']] as [['published_at', 'desc']], limit: PAGE_SIZE };
    return (await findReadable(this.releases, query)).items;
  }

  /**
   * Newest first.
   * @throws InvalidCursor
   */
  listPage(filter: Filter, limit: number, after: string | null): Promise<Page<ReleaseDoc>> {
    return this.releases.find({ filter, sort: [['published_at', 'desc']], limit, after });
  }

  async getNewest(): Promise<ReleaseDoc | null> {
    return (await this.listPage({ withdrawn_at: null }, 1, null)).items[0] ?? null;
  }

  async listByVersion(product: string, channel: string, version: string): Promise<ReleaseDoc[]> {
    const ids = PLATFORMS.map((platform) => getReleaseId(product, channel, version, platform));
    return this.list({ id: { in: ids } });
  }

  /**
   * @param manifest if the caller has it
   * @throws ServiceError conflict when another call was first
   */
  async insert(doc: Omit<ReleaseDoc, 'rev' | 'updated_at'>, manifest?: string): Promise<ReleaseDoc> {
    const whole: ReleaseDoc = { ...doc, rev: 1, updated_at: this.stamps.createTimestamp() };
    try {
      await this.releases.insert(whole);
    } catch (error) {
      if (error instanceof StoreConflict) throw createConflict(doc);
      throw error;
    }
    return this.#updateIndex(whole, manifest);
  }

  /**
   * Undefined removes a member.
   * @throws ServiceError conflict when it changed since `before`
   */
  async update(before: ReleaseDoc, changes: ReleaseUpdate, manifest?: string): Promise<ReleaseDoc> {
    const { id, rev } = before;
    const updated_at = this.stamps.createTimestamp(before.updated_at);
    const set = { ...changes, updated_at } as unknown as NonNullable<Update['set']>;
    const written = await this.releases.change({ id, rev }, { set, inc: { rev: 1 } });
    if (written === null) throw createConflict(before);
    return this.#updateIndex(written.doc, manifest);
  }

  /** Readers do not see these, so neither the revision nor `updated_at` changes. */
  async clearMarkers(doc: ReleaseDoc): Promise<void> {
    const same = { id: doc.id, rev: doc.rev };
    await this.releases.change(same, { set: { outbox: [] }, unset: ['open_at', 'withdrawing', 'rolling_back'] });
  }

  async #updateIndex(doc: ReleaseDoc, manifest?: string): Promise<ReleaseDoc> {
    await this.index.update([doc], manifest === undefined ? undefined : new Map([[doc.id, manifest]]));
    return doc;
  }
}

const createConflict = ({ version }: { version: string }): Error =>
  conflict(`Release ${version} was changed by another request. Try again.`);
