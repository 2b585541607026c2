import type { LiveTopic } from '../../../ports/domain/live-topics.js';
import type { WebhookDeps } from '../deps.js';
import type { WebhookServices } from '../services.js';

const UNRESTRICTED_READER = { kind: 'shared_key' } as const;

/**
 * `webhooks`: deliveries by state, the newest change, attempts of this process. `webhook`, by id:
 * its deliveries by state and last attempt in any process. `delivery`, by id: its state and
 * attempts.
 */
export const buildWebhookTopics = (
  { webhooks, deliveries }: Pick<WebhookDeps, 'webhooks' | 'deliveries'>,
  { workers, log }: Pick<WebhookServices, 'workers' | 'log'>,
): LiveTopic[] => [
  {
    name: 'webhooks',
    getRevision: async () => {
      const [states, enabled] = await Promise.all([deliveries.groupCount('state'), webhooks.groupCount('enabled')]);
      return JSON.stringify([states, enabled, workers.attemptCount]);
    },
  },
  {
    name: 'webhook',
    getRevision: async (id) => {
      const [webhook, states, last] = await Promise.all([
        webhooks.get(id),
        log.countByState(id),
        log.findLastAttempted(UNRESTRICTED_READER, id),
      ]);
      return JSON.stringify([webhook?.updated_at, webhook?.enabled, states, last?.id, last?.made, last?.state]);
    },
  },
  {
    name: 'delivery',
    getRevision: async (id) => {
      const found = await deliveries.get(id);
      return JSON.stringify([found?.state, found?.made, found?.updated_at, found?.lease_n, found?.lease_by]);
    },
  },
];
