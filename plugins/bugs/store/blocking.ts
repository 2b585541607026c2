/**
 * Tracks which items wait for others (contract 20, links). Each blocked item lists its unfinished
 * blockers in `blocked`, so `action=next` reads no links.
 *
 * Order: finishing or reopening a blocker sets the marker `relink_at` → its blocked items are
 * re-evaluated before the response → the marker is removed. After a crash the job `bugs.reconcile`
 * finds the marker. A re-evaluation first raises `links` of the blocked item, so one based on older
 * states loses its compare-and-set.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { ServiceError } from '../../../kernel/errors.js';
import { buildElapsedFilter } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { DEPS } from '../deps.js';
import { isFinished } from '../item/transitions.js';
import type { ChangeSet } from '../item/change-set.js';
import { MAX_LINKS } from '../item/link-kinds.js';
import type { ItemDoc } from '../item/model.js';
import { ItemRevisionWriter } from './item-revisions.js';
import type { Clock } from '../../../ports/clock.js';
import type { LinkDoc } from '../item/operation-documents.js';
import type { Collection } from '../../../ports/store/index.js';

/** Older markers belong to a process that has ended. */
const STALE_MARKER_MS = 10_000;
const BATCH_SIZE = 100;
const CHUNK_SIZE = 500;

@injectable()
export class BlockingService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.links) private readonly links: Collection<LinkDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemRevisionWriter) private readonly revisions: ItemRevisionWriter,
  ) {}

  async updateBlockedItems({ id, relink_at }: Pick<ItemDoc, 'id' | 'relink_at'>): Promise<void> {
    if (relink_at === undefined) return;
    for (const blocked of await this.listBlockedIds(id)) await this.reevaluate(blocked);
    await this.items.change({ id, relink_at }, { unset: ['relink_at'] });
  }

  async listBlockedIds(id: string): Promise<string[]> {
    const filter = { from: id, kind: 'blocks', state: 'made' };
    return (await this.links.find({ filter, limit: MAX_LINKS })).items.map(({ to }) => to);
  }

  async reevaluate(id: string): Promise<void> {
    if ((await this.items.change({ id }, { inc: { links: 1 } })) === null) return;
    try {
      await this.revisions.change(id, 'system', async (item, change) =>
        planBlocked(item, change, await this.#listUnfinishedBlockers(id)),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    }
  }

  /** Also unblocks what an earlier version, without links, did not. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    const { items, clock } = this;
    const left = buildElapsedFilter('relink_at', STALE_MARKER_MS, clock.now());
    for await (const page of iteratePages(items, { filter: left, sort: [['relink_at', 'asc']], limit: BATCH_SIZE })) {
      for (const item of page) await this.updateBlockedItems(item);
      if (signal?.aborted === true) return;
    }
    const waiting = { 'blocked.at': { gt: '' } };
    for await (const page of iteratePages(items, {
      filter: waiting,
      sort: [['blocked.at', 'asc']],
      limit: BATCH_SIZE,
    })) {
      const blockers = await this.#filterUnfinished(page.flatMap(({ blocked }) => blocked?.by ?? []));
      const free = page.filter(({ blocked }) => blocked?.by.some((id) => !blockers.has(id)) === true);
      for (const { id } of free) await this.reevaluate(id);
      if (signal?.aborted === true) return;
    }
  }

  async #filterUnfinished(ids: readonly string[]): Promise<Set<string>> {
    const open = new Set<string>();
    for (let at = 0; at < ids.length; at += CHUNK_SIZE) {
      const chunk = ids.slice(at, at + CHUNK_SIZE);
      const { items } = await this.items.find({ filter: { id: { in: chunk } }, limit: CHUNK_SIZE });
      for (const { id, status } of items) if (!isFinished(status)) open.add(id);
    }
    return open;
  }

  async #listUnfinishedBlockers(id: string): Promise<string[]> {
    const filter = { to: id, kind: 'blocks', state: 'made' };
    const links = await this.links.find({ filter, limit: MAX_LINKS });
    if (links.items.length === 0) return [];
    return [...(await this.#filterUnfinished(links.items.map(({ from }) => from)))].toSorted();
  }
}

function planBlocked(item: ItemDoc, change: ChangeSet, by: string[]): void {
  const before = item.blocked?.by ?? [];
  if (before.join() === by.join()) return;
  if (by.length > 0) change.assign({ blocked: { by, at: item.blocked?.at ?? change.at } });
  if (by.length > 0 && before.length === 0) change.addHistoryEntry('blocked');
  if (by.length > 0) return;
  change.assign({ blocked: null }).addHistoryEntry('unblocked');
  if (change.next.status === 'open') change.addEvent('bug.unblocked');
}
