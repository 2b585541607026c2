import { inject, injectable } from '../../../kernel/contract.js';
import type { Item } from '../../../ports/domain/bugs.js';
import { ReleaseSightings, type ItemTimeline } from '../builds/release-sightings.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ItemDoc } from '../item/model.js';
import { Items } from '../store/items.js';
import { buildCodeUrl } from './code-url.js';
import { Spreads, type Spread } from './spread.js';

export interface ItemSurroundings extends ItemTimeline {
  code_url: string | null;
  spread: Spread;
}

@injectable()
export class ItemPlaces {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'projects'>,
    @inject(Items) private readonly items: Items,
    @inject(Spreads) private readonly spreads: Spreads,
    @inject(ReleaseSightings) private readonly timeline: ReleaseSightings,
  ) {}

  async of(item: Item, { parted }: Pick<ItemDoc, 'parted'> = {}): Promise<ItemSurroundings> {
    const [located, project, spread, timeline] = await Promise.all([
      this.items.located(item),
      this.deps.projects.get(item.project),
      this.spreads.of({ ...item, parted }),
      this.timeline.of(item),
    ]);
    return { code_url: buildCodeUrl(located, project ?? {}), spread, ...timeline };
  }
}
