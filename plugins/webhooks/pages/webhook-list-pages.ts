import joi from 'joi';
import { View, type PageSpec } from '../../../kernel/contract/index.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import { isAdmin } from '../model/reader-access.js';
import { cursor, PAGE_SIZE, readAccess, toWebhookStateView, title, type WebhookPageParts } from './page-helpers.js';

const MAX_LIVE_WEBHOOKS = 19;

export function buildListPages({ registry, choices }: WebhookPageParts): PageSpec[] {
  return [
    {
      path: '/webhooks',
      title,
      nav: {
        section: 'administration',
        group: 'alerts',
        label: title,
        icon: 'webhook',
        order: 20,
        also: ['hooks', 'deliveries', 'events', 'integrations', 'callbacks'],
        badge: async () => (await registry.listBroken()).length || null,
      },
      access: readAccess,
      input: { query: joi.object({ cursor }) },
      handle: async (request) => {
        const after = request.query['cursor'] as string | undefined;
        const page = await registry.listPage(request.principal, { limit: PAGE_SIZE, cursor: after });
        return new View('webhooks', {
          live_topics: [
            'webhooks',
            ...page.items.slice(0, MAX_LIVE_WEBHOOKS).map(({ id }) => formatLiveTopic('webhook', id)),
          ].join(' '),
          items: page.items.map(toWebhookStateView),
          admin: isAdmin(request.principal),
          projects: await choices.listProjects(),
          next_cursor: page.next,
        });
      },
    },
  ];
}
