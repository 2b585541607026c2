/** /webhooks and the event log: members read, administrators change (contracts 10, 70 and 80). */
import joi from 'joi';
import {
  orAgain,
  type Problem,
  Redirect,
  View,
  type HttpRequest,
  type PageResult,
  type PageSpec,
  type PanelSpec,
} from '../../../kernel/contract.js';
import { liveSubject } from '../../../ports/domain/live.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { deliveryPages } from './delivery-pages.js';
import { deliveryView, STATES, WAITING, type DeliveryState } from '../deliveries/delivery.js';
import { eventView } from '../events/event.js';
import { bodyOf, chosenEvents, typed } from './form.js';
import type { DeliveryQuery, EventQuery } from '../deliveries/log.js';
import { ALL_EVENTS } from '../events/names.js';
import type { Webhooks } from '../registry/webhooks.js';
import {
  changing,
  crumb,
  cursor,
  params,
  pretty,
  reading,
  stated,
  title,
  toned,
  uuid,
  type PageParts,
} from './shown.js';
import { isAdmin, sightOf } from '../registry/reader.js';
import { changeBody, createBody, hostOf, type Webhook } from '../registry/webhook.js';

const PAGE = 50;
/** Webhooks of the list whose last attempts are followed; of the others what changes the counts is. */
const FOLLOWED = 19;

export function pages(parts: PageParts): PageSpec[] {
  return [...listPages(parts), ...detailPages(parts), ...deliveryPages(parts)];
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

/** The form, of a new or a known webhook; with what was typed when it was refused. */
async function editor({ registry }: PageParts, request: HttpRequest, problem?: Problem): Promise<View> {
  const id = request.params['id'];
  const known =
    id === undefined ? null : await registry.view(request.principal, await registry.need(request.principal, id));
  const form = problem !== undefined ? typed(request) : (known ?? { events: ALL_EVENTS, enabled: true });
  const chosen = problem !== undefined ? chosenEvents(request) : (known?.events ?? ALL_EVENTS).split(',');
  const names = [
    {
      name: ALL_EVENTS,
      description: 'Every event, also those of plugins that come later. Tick single ones below to be sent those alone.',
    },
  ];
  return new View('webhook-form', {
    known,
    form,
    enabled: problem === undefined ? (known?.enabled ?? true) : typed(request)['enabled'] === 'true',
    names: [...names, ...registry.names()].map((one) => Object.assign(one, { checked: chosen.includes(one.name) })),
    has_key: registry.hasKey,
    projects: await registry.projects(),
    action: known === null ? '/webhooks' : `/webhooks/${known.id}/edit`,
    crumbs: [crumb, known === null ? { label: 'New webhook' } : { label: known.name, href: `/webhooks/${known.id}` }],
    ...problem,
  });
}

function listPages(parts: PageParts): PageSpec[] {
  const { registry, log } = parts;
  return [
    {
      path: '/webhooks',
      title,
      nav: {
        section: 'administration',
        label: title,
        icon: 'webhook',
        order: 40,
        also: ['hooks', 'deliveries', 'events', 'integrations', 'callbacks'],
        badge: async () => (await registry.broken()).length || null,
      },
      access: reading,
      input: { query: joi.object({ cursor }) },
      handle: async (request) => {
        const after = request.query['cursor'] as string | undefined;
        const page = await registry.page(request.principal, { limit: PAGE, cursor: after });
        return new View('webhooks', {
          live_topics: ['webhooks', ...page.items.slice(0, FOLLOWED).map(({ id }) => liveSubject('webhook', id))].join(
            ' ',
          ),
          items: page.items.map(stated),
          admin: isAdmin(request.principal),
          projects: await registry.projects(),
          next_cursor: page.next,
        });
      },
    },
    { path: '/webhooks/new', title: 'New webhook', access: changing, handle: (request) => editor(parts, request) },
    {
      method: 'POST',
      path: '/webhooks',
      title,
      access: changing,
      creates: true,
      handle: (request) =>
        orAgain(
          async () => {
            const made = await registry.create(request.principal, bodyOf(request, createBody));
            if (made.secret === null) return to(made.webhook, 'Webhook created.');
            return withSecret(parts, request, made.webhook.id, { heading: 'Webhook created', secret: made.secret });
          },
          (problem) => editor(parts, request, problem),
        ),
    },
    {
      path: '/webhooks/events',
      title: 'Event log',
      access: reading,
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
        const items = page.items.map((stored) => ({ ...eventView(stored), body: pretty(stored.body) }));
        const names = registry.names().map(({ name }) => ({ value: name, label: name }));
        const crumbs = [crumb, { label: 'Event log' }];
        return new View('events', {
          items,
          names,
          projects: await registry.projects(),
          next_cursor: page.next,
          crumbs,
        });
      },
    },
  ];
}

const to = ({ id }: Pick<Webhook, 'id'>, message: string): Redirect =>
  new Redirect(`/webhooks/${id}`, { tone: 'success', message });

/** One webhook with its deliveries, and what was just done with it. */
async function shown(
  { registry, log }: PageParts,
  request: HttpRequest,
  id: string,
  done: Record<string, unknown> = {},
): Promise<View> {
  const webhook = await registry.need(request.principal, id);
  const { state, cursor: after } = request.query as { state?: DeliveryState; cursor?: string };
  const query: DeliveryQuery = { limit: PAGE, ...(state && { state }), ...(after !== undefined && { cursor: after }) };
  const [view, page, counts] = await Promise.all([
    registry.view(request.principal, webhook),
    log.deliveries(request.principal, id, query),
    log.states(id),
  ]);
  const path = `/webhooks/${id}`;
  const sight = sightOf(request.principal);
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const waiting = WAITING.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  return new View('webhook', {
    total: all,
    waiting,
    title: webhook.name,
    webhook: stated(view),
    live_topics: liveSubject('webhook', id),
    projects: await registry.projects(),
    admin: isAdmin(request.principal),
    items: page.items.map((delivery) => ({
      ...toned(deliveryView(delivery, sight)),
      last: delivery.attempts.at(-1) ?? null,
    })),
    next_cursor: page.next,
    page_path: path,
    tabs: [
      { label: 'All', href: path, active: state === undefined, count: all },
      ...STATES.filter((one) => (counts[one] ?? 0) > 0 || one === state).map((one) => ({
        label: one,
        href: `${path}?state=${one}`,
        active: one === state,
        count: counts[one] ?? 0,
      })),
    ],
    crumbs: [crumb, { label: webhook.name }],
    ...done,
  });
}

/** The webhook's page with a secret, which is seen this once. */
const withSecret = async (
  parts: PageParts,
  request: HttpRequest,
  id: string,
  made: { heading: string; secret: string; rotated?: boolean },
): Promise<View> =>
  (await shown(parts, request, id, made)).shownOnce({ label: 'The webhook', href: `/webhooks/${id}` });

/** A button of a webhook's page. What is refused is said on the same page. */
function action(
  parts: PageParts,
  name: string,
  run: (request: HttpRequest, id: string) => Promise<PageResult>,
): PageSpec {
  return {
    method: 'POST',
    path: `/webhooks/{id}/${name}`,
    title,
    access: changing,
    input: { params },
    handle: (request) => {
      const id = request.params['id'] ?? '';
      return orAgain(
        () => run(request, id),
        ({ message, errors }) => shown(parts, request, id, { problem: [message, ...Object.values(errors)].join(' ') }),
      );
    },
  };
}

/** What was held may be on its way by itself once the webhook is enabled. */
async function sendAgain(
  { registry, log }: PageParts,
  request: HttpRequest,
  id: string,
  delivery: string,
): Promise<void> {
  const { webhook_id } = await log.need(request.principal, delivery);
  if (webhook_id !== id) throw notFound(`delivery ${delivery} of this webhook`);
  try {
    await registry.redeliver(request.principal, delivery);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
  }
}

function detailPages(parts: PageParts): PageSpec[] {
  const { registry } = parts;
  return [
    {
      path: '/webhooks/{id}',
      title,
      access: reading,
      input: { params, query: joi.object({ cursor, state: joi.valid(...STATES) }) },
      handle: (request) => shown(parts, request, request.params['id'] ?? ''),
    },
    {
      path: '/webhooks/{id}/edit',
      title: 'Edit webhook',
      access: changing,
      input: { params },
      handle: (request) => editor(parts, request),
    },
    {
      method: 'POST',
      path: '/webhooks/{id}/edit',
      title: 'Edit webhook',
      access: changing,
      input: { params },
      handle: (request) =>
        orAgain(
          async () => {
            const input = bodyOf(request, changeBody);
            return to(await registry.change(request.principal, request.params['id'] ?? '', input), 'Webhook saved.');
          },
          (problem) => editor(parts, request, problem),
        ),
    },
    action(parts, 'test', async (request, id) =>
      shown(parts, request, id, { test: await registry.test(request.principal, id) }),
    ),
    action(parts, 'rotate', async (request, id) => {
      const { secret } = await registry.rotate(request.principal, id);
      return withSecret(parts, request, id, { heading: 'New secret', secret, rotated: true });
    }),
    action(parts, 'enable', async (request, id) => {
      const enabled = await registry.enable(request.principal, id);
      const delivery = uuid.validate(typed(request)['redeliver']);
      if (delivery.error !== undefined)
        return to(enabled, 'Webhook enabled: the count begins again, and held deliveries go out.');
      await sendAgain(parts, request, id, delivery.value);
      return new Redirect(`/webhooks/${id}/deliveries/${delivery.value}`, {
        tone: 'success',
        message: 'Webhook enabled, and the delivery is on its way again.',
      });
    }),
    action(parts, 'disable', async (request, id) =>
      to(await registry.disable(request.principal, id), 'Webhook disabled: what waits is held for 24 hours.'),
    ),
    action(parts, 'delete', async (request, id) => {
      await registry.remove(request.principal, id);
      return new Redirect('/webhooks', { tone: 'success', message: 'Webhook deleted with its deliveries.' });
    }),
  ];
}
