/** `/api/webhooks/v1` (contract 70, API). */
import joi from 'joi';
import { created, type Principal, type RouteSpec } from '../../../kernel/contract.js';
import { deliveryView, STATES } from '../deliveries/delivery.js';
import { eventView } from '../events/event.js';
import type { DeliveryLog, DeliveryQuery, EventQuery, ListQuery } from '../deliveries/log.js';
import { sightOf } from '../registry/reader.js';
import type { Webhooks } from '../registry/webhooks.js';
import { changeBody, createBody, type Webhook, type WebhookFields, type WebhookView } from '../registry/webhook.js';

const BASE = '/api/webhooks/v1';
const access = { scope: 'webhooks:manage' } as const;

const timestamp = joi.string().isoDate();
const params = joi.object({ id: joi.string().max(64).required() });
const list = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4096),
  include_total: joi.boolean().default(false),
};

const webhookShape = joi.object({
  id: joi.string().required(),
  name: joi.string().required(),
  url: joi.string().required(),
  project_slug: joi.string().allow(null).required(),
  events: joi.string().required(),
  enabled: joi.boolean().required(),
  has_secret: joi.boolean().required().description('False: `security.webhook_key` signs'),
  previous_secret_until: timestamp
    .allow(null)
    .required()
    .description('Until then the secret before the rotation signs too'),
  failure_count: joi
    .number()
    .integer()
    .required()
    .description('Deliveries in a row that failed; at 20 it disables itself'),
  disabled_reason: joi.string().allow(null).required(),
  disabled_at: timestamp.allow(null).required(),
  last_delivery: joi
    .object({
      id: joi.string().required(),
      event: joi.string().required(),
      state: joi.valid(...STATES).required(),
      at: timestamp.required(),
      status_code: joi.number().integer().allow(null).required(),
      error: joi.string().allow(null).required(),
    })
    .allow(null)
    .required(),
  created_by: joi.string().required(),
  created_at: timestamp.required(),
  updated_at: timestamp.required(),
});

const answer = {
  status_code: joi.number().integer().allow(null).required(),
  duration_ms: joi.number().integer().required(),
  error: joi.string().allow(null).required(),
  excerpt: joi
    .string()
    .allow(null, '')
    .required()
    .description(
      'The first 2 KiB of the answer; null for a token of one project when the answer came from a private address',
    ),
};

const deliveryShape = joi.object({
  id: joi.string().required().description('`X-SVC-Delivery`'),
  webhook_id: joi.string().required(),
  event_id: joi.string().required(),
  event: joi.string().required(),
  project_slug: joi.string().allow(null).required(),
  state: joi.valid(...STATES).required(),
  attempt_count: joi.number().integer().required(),
  attempts: joi
    .array()
    .items(joi.object({ attempt: joi.number().integer().required(), at: timestamp.required(), ...answer }))
    .required(),
  next_attempt_at: timestamp.allow(null).required(),
  created_at: timestamp.required(),
  updated_at: timestamp.required(),
});

const eventShape = joi.object({
  id: joi.string().required(),
  event: joi.string().required(),
  timestamp: timestamp.required(),
  project_slug: joi.string().allow(null).required(),
  data: joi.object().unknown().required(),
});

const pageOf = (item: joi.Schema): joi.ObjectSchema =>
  joi.object({
    items: joi.array().items(item).required(),
    next_cursor: joi.string().allow(null).required(),
    has_more: joi.boolean().required(),
    total: joi.number().integer(),
  });

const one = joi.object({ webhook: webhookShape.required() });

/** A page of a list in the shape of contract 00. */
async function paged<T>(
  page: { items: T[]; next: string | null; count: () => Promise<number> },
  query: Record<string, unknown>,
  view: (item: T) => unknown,
): Promise<object> {
  const shown = { items: page.items.map(view), next_cursor: page.next, has_more: page.next !== null };
  return query['include_total'] === true ? { ...shown, total: await page.count() } : shown;
}

export function routes({ registry, log }: { registry: Webhooks; log: DeliveryLog }): RouteSpec[] {
  return [...webhookRoutes(registry), ...actionRoutes(registry), ...logRoutes(registry, log)];
}

function webhookRoutes(registry: Webhooks): RouteSpec[] {
  const shown = async (principal: Principal, webhook: Webhook): Promise<{ webhook: WebhookView }> => ({
    webhook: await registry.view(principal, webhook),
  });
  return [
    {
      method: 'GET',
      path: `${BASE}/webhooks`,
      summary: 'List the webhooks',
      description: 'Newest first. A token that is bound to a project sees that project’s alone.',
      access,
      strictQuery: true,
      input: { query: joi.object(list) },
      output: pageOf(webhookShape),
      handle: async ({ principal, query }) =>
        paged(await registry.page(principal, query as unknown as ListQuery), query, (item) => item),
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks`,
      summary: 'Create a webhook',
      description:
        'Without `secret` one is generated and shown in this answer alone. `secret: null` signs with `security.webhook_key`.',
      access,
      input: { body: createBody },
      status: 201,
      output: joi.object({ webhook: webhookShape.required(), secret: joi.string() }),
      handle: async ({ principal, body }) => {
        const fields = body as WebhookFields & { name: string; url: string; events: string };
        const { webhook, secret } = await registry.create(principal, fields);
        const answered = { ...(await shown(principal, webhook)), ...(secret !== null && { secret }) };
        return created(answered).header('cache-control', 'no-store');
      },
    },
    {
      method: 'GET',
      path: `${BASE}/webhooks/{id}`,
      summary: 'One webhook',
      access,
      input: { params },
      output: one,
      handle: async ({ principal, params: { id = '' } }) => shown(principal, await registry.need(principal, id)),
    },
    {
      method: 'PATCH',
      path: `${BASE}/webhooks/{id}`,
      summary: 'Change a webhook',
      description:
        'A new `secret` leaves the one before valid for 24 hours. `enabled: false` holds what waits; `true` is the same as `/enable`.',
      access,
      input: { params, body: changeBody },
      output: one,
      handle: async ({ principal, params: { id = '' }, body }) =>
        shown(principal, await registry.change(principal, id, body as WebhookFields)),
    },
    {
      method: 'DELETE',
      path: `${BASE}/webhooks/{id}`,
      summary: 'Delete a webhook with its deliveries',
      access,
      input: { params },
      output: joi.object({ deleted: joi.boolean().required() }),
      handle: async ({ principal, params: { id = '' } }) => {
        await registry.remove(principal, id);
        return { deleted: true };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/enable`,
      summary: 'Enable a webhook: the failure counter begins again, held deliveries go out',
      access,
      input: { params, optionalBody: true },
      output: one,
      handle: async ({ principal, params: { id = '' } }) => shown(principal, await registry.enable(principal, id)),
    },
  ];
}

function actionRoutes(registry: Webhooks): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/test`,
      summary: 'Send a test event now and answer what came back',
      description: 'One attempt, not counted, on a disabled webhook too. 200 also when the receiver failed.',
      access,
      input: { params, optionalBody: true },
      output: joi.object({ delivery: joi.object(answer).required() }),
      handle: async ({ principal, params: { id = '' } }) => ({ delivery: await registry.test(principal, id) }),
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/rotate`,
      summary: 'Make a new secret, shown once; the one before stays valid for 24 hours',
      access,
      input: { params, optionalBody: true },
      output: joi.object({ webhook: webhookShape.required(), secret: joi.string().required() }),
      handle: async ({ principal, params: { id = '' } }) => {
        const { webhook, secret } = await registry.rotate(principal, id);
        return { webhook: await registry.view(principal, webhook), secret };
      },
    },
  ];
}

function logRoutes(registry: Webhooks, log: DeliveryLog): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE}/webhooks/{id}/deliveries`,
      summary: 'List the deliveries of a webhook, with their attempts',
      description: 'Newest event first; kept for 14 days.',
      access,
      strictQuery: true,
      input: { params, query: joi.object({ ...list, state: joi.valid(...STATES), event: joi.string().max(100) }) },
      output: pageOf(deliveryShape),
      handle: async ({ principal, params: { id = '' }, query }) => {
        await registry.need(principal, id);
        const page = await log.deliveries(principal, id, query as unknown as DeliveryQuery);
        return paged(page, query, (delivery) => deliveryView(delivery, sightOf(principal)));
      },
    },
    {
      method: 'POST',
      path: `${BASE}/deliveries/{id}/redeliver`,
      summary: 'Send a delivery again, with the same ids',
      description: '409 `conflict` while its webhook is disabled, or an attempt is under way.',
      access,
      input: { params, optionalBody: true },
      output: joi.object({ delivery: deliveryShape.required() }),
      handle: async ({ principal, params: { id = '' } }) => ({
        delivery: deliveryView(await registry.redeliver(principal, id), sightOf(principal)),
      }),
    },
    {
      method: 'GET',
      path: `${BASE}/events`,
      summary: 'The event log',
      description: 'Newest first; kept for 14 days. `since` is inclusive, `until` exclusive.',
      access,
      strictQuery: true,
      input: {
        query: joi.object({
          ...list,
          event: joi.string().max(100),
          project_slug: joi.string().max(64),
          since: timestamp,
          until: timestamp,
        }),
      },
      output: pageOf(eventShape),
      handle: async ({ principal, query }) =>
        paged(await log.events(principal, query as unknown as EventQuery), query, eventView),
    },
  ];
}
