import joi from 'joi';
import { createCsvFile, View, type HttpRequest, type PageSpec, type Reply } from '../../../kernel/contract/index.js';
import type { EventQuery } from '../deliveries/delivery-log.js';
import { formatCsvPages } from '../../../lib/text/csv.js';
import { getEventPage } from '../../../ports/domain/event-page.js';
import { toWebhookEventView, type WebhookEventView } from '../model/stored-event.js';
import { crumb, cursor, PAGE_SIZE, formatJson, readAccess, type WebhookPageParts } from './page-helpers.js';

export function buildEventPages({ choices, log }: WebhookPageParts): PageSpec[] {
  return [
    {
      path: '/webhooks/events',
      title: 'Event log',
      access: readAccess,
      projectQuery: 'project_slug',
      input: {
        query: joi.object({
          cursor,
          event: joi.string().max(100).allow(''),
          project_slug: joi.string().max(64).allow(''),
          format: joi.string().valid('csv').empty(''),
        }),
      },
      handle: async (request) => {
        const {
          event,
          project_slug,
          cursor: after,
        } = request.query as { event?: string; project_slug?: string; cursor?: string };
        const query: EventQuery = {
          limit: PAGE_SIZE,
          ...(event && { event }),
          ...(project_slug && { project_slug }),
          ...(after !== undefined && { cursor: after }),
        };
        if (request.query['format'] === 'csv') return exportEvents(log, request, query);
        const page = await log.listEvents(request.principal, query);
        const known = choices.listEvents();
        const descriptions = new Map(known.map(({ name, description }) => [name, description]));
        const items = page.items.map((stored) => {
          const view = addSubject(toWebhookEventView(stored));
          const description = descriptions.get(view.event) ?? view.event;
          return Object.assign(view, { description, body: formatJson(stored.body) });
        });
        const names = known.map(({ name, description }) => ({ value: name, label: description }));
        const crumbs = [crumb, { label: 'Event log' }];
        return new View('events', {
          items,
          names,
          projects: await choices.listProjects(),
          next_cursor: page.next,
          csv: `/webhooks/events?${new URLSearchParams({ ...(event && { event }), ...(project_slug && { project_slug }), format: 'csv' }).toString()}`,
          crumbs,
        });
      },
    },
  ];
}

const EXPORT_PAGE_SIZE = 200;

async function exportEvents(log: WebhookPageParts['log'], request: HttpRequest, query: EventQuery): Promise<Reply> {
  const { cursor: _first, ...filters } = query;
  const csv = await formatCsvPages(
    ['timestamp', 'event', 'project_slug', 'subject', 'data'],
    (after) =>
      log.listEvents(request.principal, {
        ...filters,
        limit: EXPORT_PAGE_SIZE,
        ...(after !== null && { cursor: after }),
      }),
    (stored) => {
      const { timestamp, event, project_slug, about, data } = addSubject(toWebhookEventView(stored));
      return [timestamp, event, project_slug, about, data ?? null];
    },
  );
  return createCsvFile('events', csv);
}

const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/**
 * Adds a label and link of the event's subject: an item, a monitor or a version. Mutates the event.
 */
function addSubject(event: WebhookEventView): WebhookEventView & { about: string; href: string | null } {
  const data = (typeof event.data === 'object' && event.data !== null ? event.data : {}) as Record<string, unknown>;
  const [ref, title] = [toText(data['ref']), toText(data['title'])];
  const [product, version] = [toText(data['product']), toText(data['version'])];
  const release = version === null ? null : [product, version, toText(data['channel'])].filter(Boolean).join(' ');
  const license = toText(data['client_ref']) ?? product;
  const named = title ?? toText(data['name']) ?? toText(data['source']) ?? release ?? license ?? toText(data['id']);
  const about = [ref, named].filter((part) => part !== null).join(' ') || event.event;
  return Object.assign(event, { about, href: getEventPage(event.event, data) });
}
