import { inject, injectable } from '../../../kernel/contract/index.js';
import { owned, ownedOrNull } from '../../../kernel/errors.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { FindQuery, Collection } from '../../../ports/store/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import { toItemView } from '../item/api-views.js';
import { BlockingService } from './blocking.js';
import { LeaseClockAdjuster } from './lease-clock-adjuster.js';
import { ItemRevisionWriter, type ItemPlan } from './item-revisions.js';
import { SearchTextService } from './search-texts.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Clock } from '../../../ports/clock.js';

const getProject = ({ project }: ItemDoc): string => project;

@injectable()
export class ItemService {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.texts) private readonly texts: Collection<TextsDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(ItemRevisionWriter) private readonly revisions: ItemRevisionWriter,
    @inject(BlockingService) private readonly blocking: BlockingService,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
    @inject(SearchTextService) private readonly words: SearchTextService,
  ) {}

  /** Finds by id or ref, ignoring case. */
  async find(given: string): Promise<ItemDoc | null> {
    const items = this.items;
    const name = given.toLowerCase();
    if (!/^[a-z0-9][a-z0-9._-]{0,99}$/.test(name)) return null;
    await this.times.adjustAfterStep();
    return (await items.get(name)) ?? (await items.find({ filter: { ref: name }, limit: 1 })).items[0] ?? null;
  }

  /** @throws ServiceError not_found, also for an item of another project than the caller's */
  async get(name: string, caller: BugCaller): Promise<ItemDoc> {
    return owned(caller.project, await this.find(name), getProject, 'item with this id');
  }

  /** Returns null if the caller may not see it. */
  async findVisible(name: string, caller: BugCaller): Promise<ItemDoc | null> {
    return ownedOrNull(caller.project, await this.find(name), getProject);
  }

  async toView(item: ItemDoc): Promise<Item> {
    return this.addRepository(toItemView(item, await this.texts.get(item.id), this.clock.now()));
  }

  /**
   * Entered by an administrator, if the item names none: trusted text (contract 20, untrusted
   * text).
   */
  async addRepository(view: Item): Promise<Item> {
    const repo_url = view.repo_url ? null : (await this.projects.get(view.project))?.repo_url;
    return repo_url ? { ...view, repo_url } : view;
  }

  /** @param damaged called for unreadable long texts; an error by default */
  async toViews(items: readonly ItemDoc[], damaged?: FindQuery['damaged']): Promise<Item[]> {
    if (items.length === 0) return [];
    const texts = await this.texts.find({
      filter: { id: { in: items.map(({ id }) => id) } },
      limit: items.length,
      damaged,
    });
    const byId = new Map(texts.items.map((doc) => [doc.id, doc]));
    const now = this.clock.now();
    return Promise.all(items.map((item) => this.addRepository(toItemView(item, byId.get(item.id) ?? null, now))));
  }

  /**
   * See item-revisions.ts. Before it resolves, items that depend on a finished or reopened blocker
   * are re-evaluated and search texts updated.
   * @throws ServiceError not_found, conflict, and what the plan throws
   */
  async change(id: string, actor: string | BugCaller, plan: ItemPlan): Promise<ItemDoc> {
    const doc = await this.revisions.change(id, actor, plan);
    if (doc.relink_at !== undefined) await this.blocking.updateBlockedItems(doc);
    if (doc.words_at !== undefined) await this.words.rebuild(id);
    return doc;
  }

  setDescription(id: string, description: string | null): Promise<void> {
    return this.words.setDescription(id, description);
  }
}
