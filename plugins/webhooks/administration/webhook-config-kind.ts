/** Webhooks in a configuration document (contract 97, apply). */
import { listProjectReferences, type ConfigKind } from '../../../ports/domain/config/kinds.js';
import { parseEventList } from '../model/event-names.js';
import { createBody, type Webhook, type WebhookFields } from '../model/webhook.js';
import type { WebhookService } from './webhook-service.js';

type NewWebhook = WebhookFields & Pick<Webhook, 'name' | 'url'> & { events: string | string[] };

export const createWebhookKind = (registry: WebhookService): ConfigKind => ({
  kind: 'webhooks',
  order: 60,
  schema: createBody,
  nameFields: ['name'],
  getName: ({ name }) => String(name),
  listSecrets: () => ['secret'],
  explicitNulls: ['secret'],
  listReferences: (fields) => listProjectReferences(fields, 'project_slug'),
  list: async (principal) =>
    (await registry.listWithSecrets(principal)).map(({ webhook, secret }) => ({
      id: webhook.id,
      name: webhook.name,
      managed: webhook.managed === true,
      fields: { ...webhook, events: webhook.events.join(','), secret },
    })),
  normalize: async (principal, fields, before) => {
    const given = fields as unknown as NewWebhook;
    registry.check(principal, given, before && (before.fields as unknown as Webhook));
    return { ...fields, name: given.name.trim(), events: parseEventList(given.events).join(',') };
  },
  create: async (principal, fields) => {
    const given = { ...(fields as unknown as NewWebhook), managed: true } as const;
    const { webhook, secret } = await registry.create(principal, given);
    return secret === null ? [] : [`webhook ${webhook.name}: a secret was generated; rotate it to see a secret`];
  },
  update: async (principal, { id }, changed) => void (await registry.change(principal, id, changed)),
  delete: (principal, { id }) => registry.remove(principal, id),
});
