import joi from 'joi';
import { createCsvFile, View, type HttpRequest, type PageSpec, type Reply } from '../../../kernel/contract/index.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
import { isAdmin } from '../model/reader-access.js';
import { cursor, PAGE_SIZE, readAccess, toWebhookStateView, title, type WebhookPageParts } from './page-helpers.js';

const MAX_LIVE_WEBHOOKS = 19;

const EXPORT_PAGE_SIZE = 200;
const CSV_COLUMNS = [
  'name',
  'url',
  'events',
  'project_slug',
  'enabled',
  'failure_count',
  'disabled_at',
  'created_at',
] as const;

async function exportWebhooks(registry: WebhookPageParts['registry'], { principal }: HttpRequest): Promise<Reply> {
  const csv = await formatCsvPages(
    CSV_COLUMNS,
    (after) => registry.listPage(principal, { limit: EXPORT_PAGE_SIZE, cursor: after ?? undefined }),
    (webhook) => CSV_COLUMNS.map((name) => webhook[name]),
  );
  return createCsvFile('webhooks', csv);
}

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
      input: { query: joi.object({ cursor, format: joi.string().valid('csv').empty('') }) },
      handle: async (request) => {
        if (request.query['format'] === 'csv') return exportWebhooks(registry, request);
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
