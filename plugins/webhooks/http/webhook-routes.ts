import joi from 'joi';
import {
  created,
  deleted,
  MANAGED_FIELD,
  withSchemaName,
  createPageSchema,
  withJsonSchema,
  timeParameter,
  whole,
  type Principal,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import { toWebhookDeliveryView, DELIVERY_STATES } from '../model/delivery.js';
import { toWebhookEventView } from '../model/stored-event.js';
import type { DeliveryLog, DeliveryQuery, EventQuery, LogPageQuery } from '../deliveries/delivery-log.js';
import { getReaderAccess } from '../model/reader-access.js';
import type { WebhookFieldValidator } from '../administration/webhook-field-validator.js';
import type { WebhookService } from '../administration/webhook-service.js';
import { changeBody, createBody, type Webhook, type WebhookFields, type WebhookView } from '../model/webhook.js';
import { toPageView } from './page-view.js';

const BASE = '/api/webhooks/v1';
const access = { scope: 'webhooks:manage' } as const;

const timestamp = joi.string().isoDate();
const params = joi.object({ id: joi.string().max(64).required() });
const listFields = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4096),
  include_total: joi.boolean().default(false),
};

const deliveryState = withSchemaName('DeliveryState', joi.string().valid(...DELIVERY_STATES));

const webhookShape = withSchemaName(
  'Webhook',
  whole({
    id: joi.string(),
    name: joi.string(),
    url: joi.string(),
    project_slug: joi.string().allow(null),
    events: joi.string(),
    enabled: joi.boolean(),
    has_secret: joi.boolean().description('False: `security.webhook_key` signs'),
    previous_secret_until: timestamp.allow(null).description('Until then the previous secret also signs'),
    failure_count: joi.number().integer().description('Consecutive failed deliveries; at 20 the webhook is disabled'),
    disabled_reason: joi.string().allow(null),
    disabled_at: timestamp.allow(null),
    last_delivery: joi
      .object({
        id: joi.string(),
        event: joi.string(),
        state: deliveryState,
        at: timestamp,
        status_code: joi.number().integer().allow(null),
        error: joi.string().allow(null),
      })
      .allow(null),
    created_by: joi.string(),
    created_at: timestamp,
    updated_at: timestamp,
  }).keys({ managed: MANAGED_FIELD }),
);

const responseFields = {
  status_code: joi.number().integer().allow(null).required(),
  duration_ms: joi.number().integer().required(),
  error: joi.string().allow(null).required(),
  excerpt: joi
    .string()
    .allow(null, '')
    .required()
    .description(
      'The first 2 KiB of the response; null for a token of one project if the response came from a private address',
    ),
};

const deliveryShape = withSchemaName(
  'Delivery',
  whole({
    id: joi.string().description('`X-SVC-Delivery`'),
    webhook_id: joi.string(),
    event_id: joi.string(),
    event: joi.string(),
    project_slug: joi.string().allow(null),
    state: deliveryState,
    attempt_count: joi.number().integer(),
    attempts: joi.array().items(joi.object({ attempt: joi.number().integer(), at: timestamp, ...responseFields })),
    next_attempt_at: timestamp.allow(null),
    created_at: timestamp,
    updated_at: timestamp,
  }),
);

const eventShape = withSchemaName(
  'LoggedEvent',
  whole({
    id: joi.string(),
    event: joi.string(),
    timestamp: timestamp,
    project_slug: joi.string().allow(null),
    data: joi.object().unknown(),
  }),
);

const webhookOutput = withSchemaName('WebhookAnswer', whole({ webhook: webhookShape }));
/** Only when it was generated. */
const createdOutput = withSchemaName(
  'WebhookMade',
  joi.object({ webhook: webhookShape.required(), secret: joi.string() }),
);

interface RouteServices {
  registry: WebhookService;
  log: DeliveryLog;
  choices: WebhookFieldValidator;
}

export function buildApiRoutes(parts: RouteServices): RouteSpec[] {
  return [...buildWebhookRoutes(parts.registry), ...buildActionRoutes(parts.registry), ...buildLogRoutes(parts)];
}

function buildWebhookRoutes(registry: WebhookService): RouteSpec[] {
  const shown = async (principal: Principal, webhook: Webhook): Promise<{ webhook: WebhookView }> => ({
    webhook: await registry.toView(principal, webhook),
  });
  return [
    {
      method: 'GET',
      path: `${BASE}/webhooks`,
      operationId: 'listWebhooks',
      summary: 'List the webhooks',
      description: 'Newest first. A token limited to a project sees only the webhooks of that project.',
      access,
      strictQuery: true,
      input: { query: joi.object(listFields) },
      output: createPageSchema('WebhookPage', webhookShape),
      handle: async ({ principal, query }) =>
        toPageView(await registry.listPage(principal, query as unknown as LogPageQuery), query, (item) => item),
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks`,
      operationId: 'createWebhook',
      errors: ['unknown_project'],
      summary: 'Create a webhook',
      description:
        'Without `secret` one is generated and shown only in this response. `secret: null` signs with `security.webhook_key`.',
      access,
      input: { body: createBody },
      status: 201,
      output: createdOutput,
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
      operationId: 'getWebhook',
      summary: 'One webhook',
      access,
      input: { params },
      output: webhookOutput,
      handle: async ({ principal, params: { id = '' } }) => shown(principal, await registry.getWebhook(principal, id)),
    },
    {
      method: 'PATCH',
      path: `${BASE}/webhooks/{id}`,
      operationId: 'changeWebhook',
      errors: ['conflict', 'unknown_project'],
      summary: 'Change a webhook',
      description:
        'After setting a new `secret` the previous one stays valid for 24 hours. `enabled: false` holds pending deliveries; `true` is the same as `/enable`.',
      access,
      input: { params, body: changeBody },
      output: webhookOutput,
      handle: async ({ principal, params: { id = '' }, body }) =>
        shown(principal, await registry.change(principal, id, body as WebhookFields)),
    },
    {
      method: 'DELETE',
      path: `${BASE}/webhooks/{id}`,
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook with its deliveries',
      access,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { id = '' } }) => {
        await registry.remove(principal, id);
        return { deleted: true };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/enable`,
      operationId: 'enableWebhook',
      summary: 'Enable a webhook, reset its failure counter, and send held deliveries',
      access,
      input: { params, body: joi.object({}), optionalBody: true },
      output: webhookOutput,
      handle: async ({ principal, params: { id = '' } }) => shown(principal, await registry.enable(principal, id)),
    },
  ];
}

function buildActionRoutes(registry: WebhookService): RouteSpec[] {
  return [
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/test`,
      operationId: 'testWebhook',
      summary: 'Send a test event and return the response',
      description: 'One attempt, not counted, also on a disabled webhook. 200 even if the receiver failed.',
      access,
      input: { params, body: joi.object({}), optionalBody: true },
      output: withSchemaName(
        'WebhookTested',
        whole({ delivery: withSchemaName('TestDelivery', whole(responseFields)) }),
      ),
      handle: async ({ principal, params: { id = '' } }) => ({ delivery: await registry.sendTest(principal, id) }),
    },
    {
      method: 'POST',
      path: `${BASE}/webhooks/{id}/rotate`,
      operationId: 'rotateWebhookSecret',
      summary: 'Create a new secret, shown once; the previous one stays valid for 24 hours',
      access,
      input: { params, body: joi.object({}), optionalBody: true },
      output: createdOutput,
      handle: async ({ principal, params: { id = '' } }) => {
        const { webhook, secret } = await registry.rotateSecret(principal, id);
        return { webhook: await registry.toView(principal, webhook), secret };
      },
    },
  ];
}

function buildLogRoutes({ registry, log, choices }: RouteServices): RouteSpec[] {
  return [
    {
      method: 'GET',
      path: `${BASE}/webhooks/{id}/deliveries`,
      operationId: 'listDeliveries',
      summary: 'List the deliveries of a webhook, with their attempts',
      description: 'Newest event first; stored for 14 days.',
      access,
      strictQuery: true,
      input: { params, query: joi.object({ ...listFields, state: deliveryState, event: joi.string().max(100) }) },
      output: createPageSchema('DeliveryPage', deliveryShape),
      handle: async ({ principal, params: { id = '' }, query }) => {
        const deliveryQuery = query as unknown as DeliveryQuery;
        choices.validateEventFilter(deliveryQuery.event);
        await registry.getWebhook(principal, id);
        const page = await log.listDeliveries(principal, id, deliveryQuery);
        return toPageView(page, query, (delivery) => toWebhookDeliveryView(delivery, getReaderAccess(principal)));
      },
    },
    {
      method: 'POST',
      path: `${BASE}/deliveries/{id}/redeliver`,
      operationId: 'redeliver',
      errors: ['conflict'],
      summary: 'Redeliver a delivery with the same IDs',
      description: '409 `conflict` while its webhook is disabled, or an attempt is in progress.',
      access,
      input: { params, body: joi.object({}), optionalBody: true },
      output: withSchemaName('DeliveryAnswer', whole({ delivery: deliveryShape })),
      handle: async ({ principal, params: { id = '' } }) => ({
        delivery: toWebhookDeliveryView(await registry.redeliver(principal, id), getReaderAccess(principal)),
      }),
    },
    {
      method: 'GET',
      path: `${BASE}/events`,
      operationId: 'listLoggedEvents',
      summary: 'The event log',
      description: 'Newest first; stored for 14 days. `since` is inclusive, `until` exclusive.',
      access,
      strictQuery: true,
      input: {
        query: joi.object({
          ...listFields,
          event: joi.string().max(100),
          project_slug: joi.string().max(64),
          since: withJsonSchema({ format: 'date-time' }, joi.string().max(64)),
          until: withJsonSchema({ format: 'date-time' }, joi.string().max(64)),
        }),
      },
      output: createPageSchema('LoggedEventPage', eventShape),
      handle: async ({ principal, query }) => {
        const eventQuery = query as unknown as EventQuery;
        choices.validateEventFilter(eventQuery.event);
        const since = timeParameter('since', eventQuery.since);
        const until = timeParameter('until', eventQuery.until);
        const times = { ...(since !== undefined && { since }), ...(until !== undefined && { until }) };
        return toPageView(await log.listEvents(principal, { ...eventQuery, ...times }), query, toWebhookEventView);
      },
    },
  ];
}
