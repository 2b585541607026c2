import { inject, injectable } from '../../../kernel/contract/index.js';
import type { AgentWork } from '../../../ports/domain/agent-requests.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { LeaseService } from '../claims/leases.js';
import { DEPS } from '../deps.js';
import { isLeaseLive, toItemView } from '../item/api-views.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc } from '../item/model.js';

const ignoreDamage = (): void => undefined;

@injectable()
export class AgentWorkService implements AgentWork {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {}

  async listWorking(project: string | null, limit: number): Promise<Item[]> {
    await this.leases.writeExpired();
    const now = this.clock.now();
    const { items } = await this.items.find({
      filter: buildFilter(project, { status: 'in_progress' }),
      sort: [['last_seen_at', 'desc']],
      limit,
      damaged: ignoreDamage,
    });
    return items
      .filter(({ claim }) => isLeaseLive(claim, now))
      .toSorted((a, b) => ((a.claim?.claimed_at ?? '') < (b.claim?.claimed_at ?? '') ? -1 : 1))
      .map((doc) => toItemView(doc, null, now));
  }

  async listQueue(project: string | null, limit: number): Promise<{ items: Item[]; total: number }> {
    await this.leases.writeExpired();
    const now = this.clock.now();
    // An item with an assignee or for a named agent is left to them (queue-filters.ts).
    const filter = buildFilter(project, { queue_key: { gt: '' }, assignee: null, target_agent: null });
    const [page, total] = await Promise.all([
      this.items.find({ filter, sort: [['queue_key', 'asc']], limit, damaged: ignoreDamage }),
      this.items.count(buildFilter(project, { queue_key: { gt: '' } })),
    ]);
    return { items: page.items.map((doc) => toItemView(doc, null, now)), total };
  }

  countWorking(project: string | null): Promise<number> {
    return this.items.count(buildFilter(project, { status: 'in_progress' }));
  }
}

const buildFilter = (project: string | null, filter: Filter): Filter =>
  project === null ? filter : { ...filter, project };
