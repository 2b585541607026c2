import { inject, injectable } from '../../../kernel/contract.js';
import { owned, ownedOrNull } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Find } from '../../../ports/store.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { toItemView } from '../item/view.js';
import { Blocking } from './blocking.js';
import { LeaseTimes } from './lease-times.js';
import { Revisions, type ItemPlan } from './revisions.js';
import { Words } from './words.js';

const projectOf = ({ project }: ItemDoc): string => project;

@injectable()
export class Items {
  constructor(
    @inject(DEPS) private readonly deps: BugDeps,
    @inject(Revisions) private readonly revisions: Revisions,
    @inject(Blocking) private readonly blocking: Blocking,
    @inject(LeaseTimes) private readonly times: LeaseTimes,
    @inject(Words) private readonly words: Words,
  ) {}

  /** Returns the item with this id or ref, ignoring case, or null. */
  async find(given: string): Promise<ItemDoc | null> {
    const { items } = this.deps;
    const name = given.toLowerCase();
    if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) return null;
    await this.times.settle();
    return (await items.get(name)) ?? (await items.find({ filter: { ref: name }, limit: 1 })).items[0] ?? null;
  }

  /** @throws ServiceError not_found, also for an item of another project than the caller's */
  async need(name: string, caller: BugCaller): Promise<ItemDoc> {
    return owned(caller.project, await this.find(name), projectOf, 'item with this id');
  }

  /** Returns the item with this id or ref if the caller may see it, otherwise null. */
  async known(name: string, caller: BugCaller): Promise<ItemDoc | null> {
    return ownedOrNull(caller.project, await this.find(name), projectOf);
  }

  async view(item: ItemDoc): Promise<Item> {
    return this.located(toItemView(item, await this.deps.texts.get(item.id), this.deps.clock.now()));
  }

  /**
   * Adds the project's repository, entered by an administrator, if the item names none: it is
   * trusted text (contract 20, untrusted text).
   */
  async located(view: Item): Promise<Item> {
    const repo_url = view.repo_url ? null : (await this.deps.projects.get(view.project))?.repo_url;
    return repo_url ? { ...view, repo_url } : view;
  }

  /** @param damaged is called for unreadable long texts; by default they are an error */
  async views(items: readonly ItemDoc[], damaged?: Find['damaged']): Promise<Item[]> {
    if (items.length === 0) return [];
    const texts = await this.deps.texts.find({
      filter: { id: { in: items.map(({ id }) => id) } },
      limit: items.length,
      damaged,
    });
    const byId = new Map(texts.items.map((doc) => [doc.id, doc]));
    const now = this.deps.clock.now();
    return Promise.all(items.map((item) => this.located(toItemView(item, byId.get(item.id) ?? null, now))));
  }

  /**
   * Plans on the newest state and writes by compare-and-set (item-revisions.ts). Before it
   * resolves, items that depend on a finished or reopened blocker are re-evaluated and changed
   * search texts are updated.
   * @throws ServiceError not_found, conflict, and what the plan throws
   */
  async change(id: string, actor: string, plan: ItemPlan): Promise<ItemDoc> {
    const doc = await this.revisions.change(id, actor, plan);
    if (doc.relink_at !== undefined) await this.blocking.spread(doc);
    if (doc.words_at !== undefined) await this.words.refresh(id);
    return doc;
  }

  describe(id: string, description: string | null): Promise<void> {
    return this.words.describe(id, description);
  }
}
