import { inject, injectable } from '../../../kernel/contract/index.js';
import type { AgentWork } from '../../../ports/domain/agent-requests.js';
import type { Item } from '../../../ports/domain/bugs.js';
import type { Filter } from '../../../ports/store/index.js';
import { LeaseService } from '../claims/leases.js';
import { DEPS, type BugDeps } from '../deps.js';
import { isLeaseLive, toItemView } from '../item/api-views.js';

const ignoreDamage = (): void => undefined;

@injectable()
export class AgentWorkService implements AgentWork {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock'>,
    @inject(LeaseService) private readonly leases: LeaseService,
  ) {}

  async listWorking(project: string | null, limit: number): Promise<Item[]> {
    await this.leases.writeExpired();
    const now = this.deps.clock.now();
    const { items } = await this.deps.items.find({
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
    const now = this.deps.clock.now();
    // An item with an assignee or for a named agent is left to them (queue-filters.ts).
    const filter = buildFilter(project, { queue_key: { gt: '' }, assignee: null, target_agent: null });
    const [page, total] = await Promise.all([
      this.deps.items.find({ filter, sort: [['queue_key', 'asc']], limit, damaged: ignoreDamage }),
      this.deps.items.count(buildFilter(project, { queue_key: { gt: '' } })),
    ]);
    return { items: page.items.map((doc) => toItemView(doc, null, now)), total };
  }

  countWorking(project: string | null): Promise<number> {
    return this.deps.items.count(buildFilter(project, { status: 'in_progress' }));
  }
}

const buildFilter = (project: string | null, filter: Filter): Filter =>
  project === null ? filter : { ...filter, project };
