import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { ReleaseTimelineService, type ItemTimeline } from '../builds/release-timeline.js';
import { DEPS } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { ItemService } from '../store/item-service.js';
import { buildCodeUrl } from './code-url.js';
import { SpreadService, type Spread } from './occurrence-spread.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';

export interface ItemSurroundings extends ItemTimeline {
  code_url: string | null;
  spread: Spread;
}

@injectable()
export class ItemSurroundingsService {
  constructor(
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(ItemService) private readonly items: ItemService,
    @inject(SpreadService) private readonly spreads: SpreadService,
    @inject(ReleaseTimelineService) private readonly timeline: ReleaseTimelineService,
  ) {}

  async getSurroundings(item: Item, { parted }: Pick<ItemDoc, 'parted'> = {}): Promise<ItemSurroundings> {
    const [located, project, spread, timeline] = await Promise.all([
      this.items.addRepository(item),
      this.projects.get(item.project),
      this.spreads.getSpread({ ...item, parted }),
      this.timeline.buildTimeline(item),
    ]);
    return { code_url: buildCodeUrl(located, project ?? {}), spread, ...timeline };
  }
}
