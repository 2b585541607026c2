/** Its events stay for their retention, without the project's name. */
import { collectAll } from '../../../lib/paging.js';
import type { ProjectCleanup } from '../../../ports/domain/projects.js';
import type { WebhookDeps } from '../deps.js';
import type { WebhookCache } from '../registry/webhook-cache.js';

const BATCH_SIZE = 500;

export const createWebhookProjectCleanup = (
  { webhooks, deliveries, events }: Pick<WebhookDeps, 'webhooks' | 'deliveries' | 'events'>,
  directory: Pick<WebhookCache, 'invalidate'>,
): ProjectCleanup => ({
  async clear(project_slug) {
    for (const { id } of await collectAll(webhooks, { filter: { project_slug }, limit: 1_000 })) {
      await webhooks.remove({ id });
      directory.invalidate(id);
      await deliveries.remove({ webhook_id: id });
    }
  },
  async detach(project_slug) {
    const none = { set: { project_slug: null } };
    for (let n = BATCH_SIZE; n === BATCH_SIZE;) n = await events.changeMany({ project_slug }, none, BATCH_SIZE);
  },
});
