/** Reading items by id or ref, and changing one by compare-and-set on its revision. */
import { inject, injectable } from '../../../kernel/contract.js';
import { conflict, notFound, owned, ownedOrNull } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import { ChangeSet } from '../item/change-set.js';
import { DeltaWatermark } from './delta-watermark.js';
import type { ItemDoc } from '../item/model.js';
import { ItemOutbox } from './item-outbox.js';
import { LeaseTimes } from './lease-times.js';
import { itemView } from '../item/view.js';

/** Attempts against other writers of one item before the call fails. */
const ATTEMPTS = 50;
/**
 * From this attempt on a loser waits a little, each for a different time. Two processes that link items in opposite
 * directions (duplicates.ts) would otherwise go on refusing each other in step.
 */
const PATIENT_FROM = 3;
const LONGEST_WAIT_MS = 32;

const projectOf = ({ project }: ItemDoc): string => project;

@injectable()
export class Items {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(DeltaWatermark) private readonly watermark: DeltaWatermark,
    @inject(ItemOutbox) private readonly outbox: ItemOutbox,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
  ) {}

  /** An item by id or ref; null when there is none. */
  async find(name: string): Promise<ItemDoc | null> {
    const { items } = this.deps;
    if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) return null;
    await this.times.settle();
    return (await items.get(name)) ?? (await items.find({ filter: { ref: name }, limit: 1 })).items[0] ?? null;
  }

  /** @throws ServiceError not_found, also for an item of another project than the caller's */
  async need(name: string, caller: BugCaller): Promise<ItemDoc> {
    return owned(caller.project, await this.find(name), projectOf, 'item with this id');
  }

  /** An item by id or ref; null when there is none that the caller may know of. */
  async known(name: string, caller: BugCaller): Promise<ItemDoc | null> {
    return ownedOrNull(caller.project, await this.find(name), projectOf);
  }

  /** The item with its long texts, as the API shows it. */
  async view(item: ItemDoc): Promise<Item> {
    return this.#withRepository(itemView(item, await this.deps.texts.get(item.id), this.deps.clock.now()));
  }

  /** Adds the repository that an administrator has entered for the project, where the item names none. */
  async #withRepository(view: Item): Promise<Item> {
    if (view.repo_url) return view;
    return { ...view, repo_url: (await this.deps.projects.get(view.project))?.repo_url ?? null };
  }

  async views(items: readonly ItemDoc[]): Promise<Item[]> {
    if (items.length === 0) return [];
    const texts = await this.deps.texts.find({
      filter: { id: { in: items.map(({ id }) => id) } },
      limit: items.length,
    });
    const byId = new Map(texts.items.map((doc) => [doc.id, doc]));
    const now = this.deps.clock.now();
    return Promise.all(items.map((item) => this.#withRepository(itemView(item, byId.get(item.id) ?? null, now))));
  }

  /**
   * Plans on the newest state and writes by compare-and-set. If another writer was faster, it plans again. A plan that
   * throws, or leaves its change empty, changes nothing.
   * @throws ServiceError not_found, conflict, and what the plan throws
   */
  async change(
    id: string,
    actor: string,
    plan: (item: ItemDoc, change: ChangeSet) => void | Promise<void>,
  ): Promise<ItemDoc> {
    const { items, ids } = this.deps;
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      await this.times.settle();
      const item = await items.get(id);
      if (item === null) throw notFound('item with this id');
      const written = await this.watermark.write(id, async (stamp) => {
        const change = new ChangeSet(item, actor, stamp, ids);
        await plan(item, change);
        if (change.empty) return { doc: item, entries: [] };
        // Fails if another item was linked to this one meanwhile: see duplicates.ts.
        return this.outbox.write({ id, rev: item.rev, links: item.links ?? null }, change);
      });
      if (written === null) {
        await this.#wait(attempt);
        continue;
      }
      await this.outbox.flush(written.doc, written.entries);
      return written.doc;
    }
    throw conflict('The item changes too often at the moment; try again.');
  }
  async #wait(attempt: number): Promise<void> {
    if (attempt < PATIENT_FROM) return;
    const ms = this.deps.random() * Math.min(LONGEST_WAIT_MS, 2 ** (attempt - PATIENT_FROM));
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
