/** When pages of webhooks and deliveries would show something else. */
import type { LiveTopic } from '../../../ports/domain/live.js';
import type { WebhookDeps } from '../deps.js';
import type { WebhookServices } from '../services.js';

/** The mark is the same for every reader and never shown. */
const UNRESTRICTED_READER = { kind: 'shared_key' } as const;

/**
 * `webhooks`: how many deliveries are in each state, the newest change of a webhook, and what this process has
 * attempted. `webhook`, by its id: its deliveries in each state and its last attempt, by whichever process: one that
 * ends as it was leaves the counts as they are. `delivery`, by its id: its state and its attempts.
 */
export const buildWebhookTopics = (
  { webhooks, deliveries }: Pick<WebhookDeps, 'webhooks' | 'deliveries'>,
  { workers, log }: Pick<WebhookServices, 'workers' | 'log'>,
): LiveTopic[] => [
  {
    name: 'webhooks',
    mark: async () => {
      const [states, enabled] = await Promise.all([deliveries.groupCount('state'), webhooks.groupCount('enabled')]);
      return JSON.stringify([states, enabled, workers.attempted]);
    },
  },
  {
    name: 'webhook',
    mark: async (id) => {
      const [webhook, states, last] = await Promise.all([
        webhooks.get(id),
        log.states(id),
        log.last(UNRESTRICTED_READER, id),
      ]);
      return JSON.stringify([webhook?.updated_at, webhook?.enabled, states, last?.id, last?.made, last?.state]);
    },
  },
  {
    name: 'delivery',
    mark: async (id) => {
      const found = await deliveries.get(id);
      return JSON.stringify([found?.state, found?.made, found?.updated_at, found?.lease_n, found?.lease_by]);
    },
  },
];
