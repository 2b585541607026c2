/** Why `action=next` has no item (contract 20, leases: `waiting`). */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { Filter, Collection } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { excludeAssigned } from '../item/queue-filters.js';
import type { Clock } from '../../../ports/clock.js';
import type { ItemDoc } from '../item/model.js';

export interface WaitingItems {
  reserved: number;
  on_hold: number;
  blocked: number;
  released_by_you: number;
  /** Targeted at another agent, or assigned to a user. */
  for_others: number;
  muted: number;
}

@injectable()
export class WaitingItemCounter {
  constructor(
    @inject(DEPS.items) private readonly items: Collection<ItemDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
  ) {}

  /** @param holder see `getLeaseHolder` in item/lease.ts */
  async count(query: Filter, agent: string, holder: string): Promise<WaitingItems> {
    const { items, clock } = this;
    const now = clock.iso();
    const { or, status: _status, ...filter } = query;
    const within = (more: Filter): Promise<number> =>
      items.count({ ...filter, ...(or !== undefined && { or }), ...more });
    const open = (more: Filter): Promise<number> => within({ status: 'open', ...more });
    const isLeftOut = excludeAssigned(query)['assignee'] === null;
    const byIndex = filter['muted'] === undefined;
    const [reserved, on_hold, blocked, released_by_you, for_agents, for_people, muted, muted_by_user] =
      await Promise.all([
        within({ status: 'in_progress', 'claim.expires_at': { gt: now } }),
        open({ 'held.at': { gt: '' } }),
        open({ 'blocked.at': { gt: '' } }),
        open({ queue_key: { gt: '' }, [`passed.${holder}`]: { gt: now } }),
        open({ queue_key: { gt: '' }, target_agent: { ne: agent, gt: '' } }),
        isLeftOut ? open({ queue_key: { gt: '' }, assignee: { gt: '' }, target_agent: { in: [null, agent] } }) : 0,
        byIndex ? open({ muted: true, muted_by_rule_id: { gt: '' } }) : open({ muted: true }),
        byIndex ? open({ muted: true, muted_until: { gt: '' } }) : 0,
      ]);
    return {
      reserved,
      on_hold,
      blocked,
      released_by_you,
      for_others: for_agents + for_people,
      muted: muted + muted_by_user,
    };
  }
}
