/** Why `action=next` has nothing to hand out (contract 20, leases: `waiting`). */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Filter } from '../../../ports/store.js';
import { DEPS, type BugDeps } from '../deps.js';

/** Items that the query finds and that this caller is not given. One may be counted under two reasons. */
export interface WaitingItems {
  /** Others have them. */
  reserved: number;
  on_hold: number;
  /** An unfinished item blocks them. */
  blocked: number;
  released_by_you: number;
  /** They are for another agent. */
  for_others: number;
  muted: number;
}

@injectable()
export class WaitingCounts {
  constructor(@inject(DEPS) private readonly deps: Pick<BugDeps, 'items' | 'clock'>) {}

  /** @param holder as `passed` names it (item/lease.ts, holderOf) */
  async of(query: Filter, agent: string, holder: string): Promise<WaitingItems> {
    const { items, clock } = this.deps;
    const now = clock.iso();
    const { or, status: _status, ...filter } = query;
    const within = (more: Filter): Promise<number> =>
      items.count({ ...filter, ...(or !== undefined && { or }), ...more });
    const open = (more: Filter): Promise<number> => within({ status: 'open', ...more });
    const [reserved, on_hold, blocked, released_by_you, for_others, muted] = await Promise.all([
      within({ status: 'in_progress', 'claim.expires_at': { gt: now } }),
      open({ 'held.at': { gt: '' } }),
      open({ 'blocked.at': { gt: '' } }),
      open({ queue_key: { gt: '' }, [`passed.${holder}`]: { gt: now } }),
      open({ queue_key: { gt: '' }, target_agent: { ne: agent, gt: '' } }),
      filter['muted'] === undefined ? open({ muted: true, muted_by_rule_id: { gt: '' } }) : open({ muted: true }),
    ]);
    return { reserved, on_hold, blocked, released_by_you, for_others, muted };
  }
}
