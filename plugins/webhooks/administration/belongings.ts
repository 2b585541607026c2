/**
 * A project's webhooks go with it, and what they wait to deliver. Its events are kept for their time, for receivers of
 * all projects and the log, and count for no project any more.
 */
import { all } from '../../../lib/paging.js';
import type { ProjectBelongings } from '../../../ports/domain/projects.js';
import type { WebhookDeps } from '../deps.js';
import type { WebhookDirectory } from '../registry/directory.js';

/** Changed at a time, so that other writes pass between. */
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
