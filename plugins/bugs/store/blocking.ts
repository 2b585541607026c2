/**
 * Which items wait for which (contract 20, links). The links say who blocks whom; each blocked item has the ids of its
 * unfinished blockers in `blocked`, by which `action=next` passes it over without a look at any link.
 *
 * Order: the blocker's end, or its reopening, writes the marker `relink_at` into the blocker itself → the items that
 * the blocker blocks are decided anew, before the answer → the marker goes. After a crash the job `bugs.reconcile`
 * finds the marker. A decision first raises `links` of the blocked item, so a decision on older states of the blockers,
 * by whichever process, loses its compare-and-set and looks again.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { elapsed } from '../../../lib/clock-skew.js';
import { iteratePages } from '../../../lib/paging.js';
import { DEPS, type BugDeps } from '../deps.js';
import { isFinished } from '../item/transitions.js';
import type { ChangeSet } from '../item/change-set.js';
import { MAX_LINKS } from '../item/link-kinds.js';
import type { ItemDoc } from '../item/model.js';
import { Revisions } from './revisions.js';

/** An older marker belongs to a process that is gone. */
const LEFTOVER_MS = 10_000;
const BATCH_SIZE = 100;
/** Items in one query to the store. */
const CHUNK_SIZE = 500;

@injectable()
export class Blocking {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'links' | 'clock'>,
    @inject(Revisions) private readonly revisions: Revisions,
  ) {}

  /** After a write that ended or reopened a blocker: the items that it blocks are decided anew. */
  async spread({ id, relink_at }: Pick<ItemDoc, 'id' | 'relink_at'>): Promise<void> {
    if (relink_at === undefined) return;
    for (const blocked of await this.blockedBy(id)) await this.decide(blocked);
    await this.deps.items.change({ id, relink_at }, { unset: ['relink_at'] });
  }

  /** Ids of the items that an item blocks, whether it is finished or not. */
  async blockedBy(id: string): Promise<string[]> {
    const filter = { from: id, kind: 'blocks', state: 'made' };
    return (await this.deps.links.find({ filter, limit: MAX_LINKS })).items.map(({ to }) => to);
  }

  /** Decides anew whether an item is blocked. An item that is gone needs no decision. */
  async decide(id: string): Promise<void> {
    if ((await this.deps.items.change({ id }, { inc: { links: 1 } })) === null) return;
    try {
      await this.revisions.change(id, 'system', async (item, change) =>
        planBlocked(item, change, await this.#unfinished(id)),
      );
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'not_found') throw error;
    }
  }

  /** Finishes what a crash left, and frees what a process of an earlier version, which knows no links, did not free. */
  async reconcile(signal?: AbortSignal): Promise<void> {
    const { items, clock } = this.deps;
    const left = elapsed('relink_at', LEFTOVER_MS, clock.now());
    for await (const page of iteratePages(items, { filter: left, sort: [['relink_at', 'asc']], limit: BATCH_SIZE })) {
      for (const item of page) await this.spread(item);
      if (signal?.aborted === true) return;
    }
    const waiting = { 'blocked.at': { gt: '' } };
    for await (const page of iteratePages(items, {
      filter: waiting,
      sort: [['blocked.at', 'asc']],
      limit: BATCH_SIZE,
    })) {
      const blockers = await this.#open(page.flatMap(({ blocked }) => blocked?.by ?? []));
      const free = page.filter(({ blocked }) => blocked?.by.some((id) => !blockers.has(id)) === true);
      for (const { id } of free) await this.decide(id);
      if (signal?.aborted === true) return;
    }
  }

  /** Those of these items that are not finished. */
  async #open(ids: readonly string[]): Promise<Set<string>> {
    const open = new Set<string>();
    for (let at = 0; at < ids.length; at += CHUNK_SIZE) {
      const asked = ids.slice(at, at + CHUNK_SIZE);
      const { items } = await this.deps.items.find({ filter: { id: { in: asked } }, limit: CHUNK_SIZE });
      for (const { id, status } of items) if (!isFinished(status)) open.add(id);
    }
    return open;
  }

  /** Ids of the unfinished items that block this one, in order. A blocker that was deleted blocks nothing. */
  async #unfinished(id: string): Promise<string[]> {
    const filter = { to: id, kind: 'blocks', state: 'made' };
    const links = await this.deps.links.find({ filter, limit: MAX_LINKS });
    if (links.items.length === 0) return [];
    return [...(await this.#open(links.items.map(({ from }) => from)))].toSorted();
  }
}

function planBlocked(item: ItemDoc, change: ChangeSet, by: string[]): void {
  const before = item.blocked?.by ?? [];
  if (before.join() === by.join()) return;
  if (by.length > 0) change.assign({ blocked: { by, at: item.blocked?.at ?? change.at } });
  if (by.length > 0 && before.length === 0) change.note('blocked');
  if (by.length > 0) return;
  change.assign({ blocked: null }).note('unblocked');
  if (change.next.status === 'open') change.tell('bug.unblocked');
}
