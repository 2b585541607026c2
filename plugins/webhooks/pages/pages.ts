/**
 * The pages of webhooks, their deliveries and the event log: members read, administrators change (contracts 10, 70 and
 * 80).
 */
import { View, type PageSpec, type PanelSpec } from '../../../kernel/contract.js';
import type { Webhooks } from '../administration/webhooks.js';
import { hostOf } from '../model/webhook.js';
import { deliveryPages } from './delivery-pages.js';
import { eventPages } from './event-log.js';
import { editPages } from './editor.js';
import { listPages } from './list.js';
import type { WebhookPageParts } from './shown.js';
import { detailPages } from './webhook.js';

export function pages(parts: WebhookPageParts): PageSpec[] {
  return [
    ...listPages(parts),
    ...editPages(parts),
    ...eventPages(parts),
    ...detailPages(parts),
    ...deliveryPages(parts),
  ];
}

/** Red, because an administrator is needed: nothing reaches this receiver any more. */
export function panels(registry: Webhooks): PanelSpec[] {
  return [
    {
      id: 'webhooks.disabled',
      kind: 'attention',
      order: 30,
      load: async ({ role }) => {
        const broken = await registry.broken();
        if (broken.length === 0) return null;
        const items = broken.map(({ id, name, url, disabled_reason, disabled_at }) => {
          return { id, name, reason: disabled_reason, at: disabled_at, host: hostOf(url) };
        });
        return new View('panel-disabled', { items, admin: role === 'admin' });
      },
    },
  ];
}
