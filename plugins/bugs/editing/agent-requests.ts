/**
 * The history entry's id derives from the request, and one change writes both entry and event
 * (contract 70, payload and signature).
 */
import { hash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { AGENT_REQUESTED, type AgentRequest } from '../../../ports/domain/agent-requests.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { createAlreadyClaimedError, createOnHoldError } from '../item/lease.js';
import { isFinished } from '../item/transitions.js';
import { isHeld, isLeaseLive, getStatusAt } from '../item/api-views.js';
import { ItemService } from '../store/item-service.js';
import { SecretGuard } from '../store/secret-guard.js';
import type { Clock } from '../../../ports/clock.js';
import type { ActivityDoc } from '../item/model.js';
import type { Collection } from '../../../ports/store/index.js';

@injectable()
export class AgentRequestService {
  constructor(
    @inject(DEPS.activity) private readonly activity: Collection<ActivityDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(ItemService) private readonly items: ItemService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /**
   * @param caller the plugin, with the name of the requester
   * @returns false if this request was made before
   * @throws ServiceError not_found, already_claimed, on_hold, invalid_transition, validation_failed
   */
  async requestAgent(name: string, caller: BugCaller, { key, agent, rule, check }: AgentRequest): Promise<boolean> {
    await this.secrets.rejectSecrets({ agent });
    const found = await this.items.find(name);
    if (found === null) throw notFound(`issue ${name.slice(0, 100)}`);
    const id = hash('sha256', [caller.id, found.id, key].join('\u001f')).slice(0, 40);
    let isNewRequest = false;
    await this.items.change(found.id, caller.name, async (item, plan) => {
      isNewRequest = !item.outbox.some((entry) => entry.id === id) && (await this.activity.get(id)) === null;
      if (!isNewRequest) return;
      const now = this.clock.now();
      if (isFinished(getStatusAt(item, now)))
        throw new ServiceError(
          'invalid_transition',
          'An agent can only be requested for an item that is open or needs information.',
        );
      if (isHeld(item)) throw createOnHoldError(item);
      if (isLeaseLive(item.claim, now)) throw createAlreadyClaimedError(item.claim, caller);
      await check?.();
      plan
        .addHistoryEntry('agent requested', { agent, ...(rule !== null && { rule }) }, id)
        .addEvent(AGENT_REQUESTED.event, { agent });
    });
    return isNewRequest;
  }
}
