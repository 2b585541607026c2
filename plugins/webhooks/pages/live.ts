/** When pages of webhooks and deliveries would show something else. */
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { Deps } from '../deps.js';
import type { Services } from '../services.js';

/**
 * How many deliveries are in each state, and the newest change of a webhook; and what this process has attempted, since a redelivery
 * that ends as it was leaves the counts as they are.
 */
export const webhookTopic = (
  { webhooks, deliveries }: Pick<Deps, 'webhooks' | 'deliveries'>,
  { workers }: Pick<Services, 'workers'>,
): LiveTopic => ({
  name: 'webhooks',
  mark: async () => {
    const [states, enabled] = await Promise.all([deliveries.groupCount('state'), webhooks.groupCount('enabled')]);
    return JSON.stringify([states, enabled, workers.attempted]);
  },
});
