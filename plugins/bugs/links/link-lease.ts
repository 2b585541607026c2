/**
 * A blocking link withdraws an item from all agents, so by MCP it needs the item's own live lease:
 * a text may have manipulated the agent. With a `claim_token` the write renews the lease (contract
 * 20, leases).
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { createClaimRequiredError } from '../item/claim-rule.js';
import { hashClaimToken, matchesToken, createLeaseLostError, renewLease } from '../item/lease.js';
import type { LinkKind } from '../item/link-kinds.js';
import type { ItemDoc } from '../item/model.js';
import { isLeaseLive } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import { LeaseClockAdjuster } from '../store/lease-clock-adjuster.js';
import type { Clock } from '../../../ports/clock.js';

@injectable()
export class LinkLeaseService {
  constructor(
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
    @inject(LeaseClockAdjuster) private readonly times: LeaseClockAdjuster,
  ) {}

  /**
   * @param item the edited item; for a block the token is that of the blocked item
   * @returns hash of the lease token; null without a token
   * @throws ServiceError claim_required, lease_lost
   */
  async renew(
    item: ItemDoc,
    other: ItemDoc,
    caller: BugCaller,
    { kind, claim_token }: { kind: LinkKind; claim_token?: string | undefined },
  ): Promise<string | null> {
    const blocks = kind === 'blocks' || kind === 'blocked_by';
    if (claim_token === undefined) {
      if (blocks && caller.by_tool === true) throw createClaimRequiredError();
      return null;
    }
    await this.items.change(kind === 'blocks' ? other.id : item.id, caller, (now, change) => {
      const at = this.clock.now();
      if (!isLeaseLive(now.claim, at) || !matchesToken(now.claim, claim_token))
        throw createLeaseLostError(now, claim_token, caller, at);
      if (caller.by_tool === true && now.claim.credential !== caller.id) throw createClaimRequiredError();
      change.by = 'holder';
      const lease = renewLease(now.claim, at, this.times.getClockStamp(at));
      if (lease !== now.claim) change.assign({ claim: lease });
    });
    return hashClaimToken(claim_token);
  }
}
