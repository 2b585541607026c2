/** /webhooks/events: what happened, whoever was told (contract 70). */
import joi from 'joi';
import { View, type PageSpec } from '../../../kernel/contract.js';
import type { EventQuery } from '../deliveries/log.js';
import { eventPage } from '../../../ports/domain/event-page.js';
import { eventView, type EventView } from '../model/event.js';
import { crumb, cursor, PAGE, pretty, reading, type WebhookPageParts } from './shown.js';

export function eventPages({ choices, log }: WebhookPageParts): PageSpec[] {
  return [
    {
      path: '/webhooks/events',
      title: 'Event log',
      access: reading,
      projectQuery: 'project_slug',
      input: {
        query: joi.object({
          cursor,
          event: joi.string().max(100).allow(''),
          project_slug: joi.string().max(64).allow(''),
        }),
      },
      handle: async (request) => {
        const {
          event,
          project_slug,
          cursor: after,
        } = request.query as { event?: string; project_slug?: string; cursor?: string };
        const query: EventQuery = {
          limit: PAGE,
          ...(event && { event }),
          ...(project_slug && { project_slug }),
          ...(after !== undefined && { cursor: after }),
        };
        const page = await log.events(request.principal, query);
        const items = page.items.map((stored) =>
          Object.assign(aboutOf(eventView(stored)), { body: pretty(stored.body) }),
        );
        const names = choices.names().map(({ name }) => ({ value: name, label: name }));
        const crumbs = [crumb, { label: 'Event log' }];
        return new View('events', {
          items,
          names,
          projects: await choices.projects(),
          next_cursor: page.next,
          crumbs,
        });
      },
    },
  ];
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/**
 * Adds to the event, a view made for this page, the name of what it is about and its page: the ref and title of an
 * item, a monitor, a version.
 */
function aboutOf(event: EventView): EventView & { about: string; href: string | null } {
  const data = (typeof event.data === 'object' && event.data !== null ? event.data : {}) as Record<string, unknown>;
  const [ref, title] = [textOf(data['ref']), textOf(data['title'])];
  const [product, version] = [textOf(data['product']), textOf(data['version'])];
  const release = version === null ? null : [product, version, textOf(data['channel'])].filter(Boolean).join(' ');
  const license = textOf(data['client_ref']) ?? product;
  const named = title ?? textOf(data['name']) ?? textOf(data['source']) ?? release ?? license ?? textOf(data['id']);
  const about = [ref, named].filter((part) => part !== null).join(' ') || event.event;
  return Object.assign(event, { about, href: eventPage(event.event, data) });
}
