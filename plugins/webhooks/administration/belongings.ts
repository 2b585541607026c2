/**
 * Deletes a project's webhooks and their deliveries. Its events stay for their retention, without
 * the project's name.
 */
import { all } from '../../../lib/paging.js';
import type { ProjectBelongings } from '../../../ports/domain/projects.js';
import type { WebhookDeps } from '../deps.js';
import type { WebhookDirectory } from '../registry/directory.js';

const BATCH_SIZE = 500;

export const createWebhookBelongings = (
  { webhooks, deliveries, events }: Pick<WebhookDeps, 'webhooks' | 'deliveries' | 'events'>,
  directory: Pick<WebhookDirectory, 'invalidate'>,
): ProjectBelongings => ({
  async clear(project_slug) {
    for (const { id } of await all(webhooks, { filter: { project_slug }, limit: 1_000 })) {
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
