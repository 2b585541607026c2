import { View, type PageSpec, type PanelSpec } from '../../../kernel/contract/index.js';
import type { WebhookService } from '../administration/webhook-service.js';
import { getUrlHost } from '../model/webhook.js';
import { buildDeliveryPages } from './delivery-pages.js';
import { buildEventPages } from './event-log.js';
import { buildEditPages } from './webhook-editor.js';
import { buildListPages } from './webhook-list-pages.js';
import type { WebhookPageParts } from './page-helpers.js';
import { buildDetailPages } from './webhook-detail-pages.js';

export function buildWebhookPages(parts: WebhookPageParts): PageSpec[] {
  return [
    ...buildListPages(parts),
    ...buildEditPages(parts),
    ...buildEventPages(parts),
    ...buildDetailPages(parts),
    ...buildDeliveryPages(parts),
  ];
}

export function buildWebhookPanels(registry: WebhookService): PanelSpec[] {
  return [
    {
      id: 'webhooks.disabled',
      kind: 'attention',
      order: 30,
      load: async ({ role }) => {
        const broken = await registry.listBroken();
        if (broken.length === 0) return null;
        const items = broken.map(({ id, name, url, disabled_reason, disabled_at }) => {
          return { id, name, reason: disabled_reason, at: disabled_at, host: getUrlHost(url) };
        });
        return new View('panel-disabled', { items, admin: role === 'admin', count: items.length });
      },
    },
  ];
}
