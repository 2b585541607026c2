import joi from 'joi';
import {
  created,
  createPageSchema,
  deleted,
  MANAGED_FIELD,
  whole,
  withSchemaName,
  type RouteSpec,
} from '../../../kernel/contract/index.js';
import type { Channel } from '../channels/channel.js';
import { changeBody, createBody, type ChannelInput } from '../channels/channel-fields.js';
import type { ChannelService, ChannelView } from '../channels/channel-service.js';
import { CHANNEL_KIND_NAMES } from '../channels/channel-kinds.js';
import { SEVERITIES } from '../notes/note.js';
import type { TestMessageSender } from '../sending/test-message.js';
import { DELIVERY_STATES, toDeliveryView, type RecipientReader } from './delivery-view.js';

const BASE = '/api/notifications/v1/channels';
const access = { scope: 'notifications:manage' } as const;
const params = joi.object({ id: joi.string().max(64).required() });
const listFields = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4_096),
  include_total: joi.boolean().default(false),
};

interface ListQuery {
  limit?: number;
  cursor?: string;
  include_total?: boolean;
}

async function buildPageResponse(
  { items, next }: { items: object[]; next: string | null },
  { include_total }: ListQuery,
  count: () => Promise<number>,
): Promise<object> {
  const page = { items, next_cursor: next, has_more: next !== null };
  return include_total === true ? { ...page, total: await count() } : page;
}

const timestamp = joi.string().isoDate();
const textList = joi.array().items(joi.string());
const severity = joi.string().valid(...SEVERITIES);

const channelFields = {
  id: joi.string(),
  name: joi.string(),
  kind: joi.string().valid(...CHANNEL_KIND_NAMES),
  enabled: joi.boolean(),
  target: joi.string().allow(null).description('Only scheme and host of a URL'),
  has_secret: joi.boolean(),
  server: joi.string().allow(null),
  header_names: textList,
  template: joi.string().allow(null),
  events: textList,
  min_severity: severity,
  monitors: textList,
  tags: textList,
  projects: textList,
  repeat_minutes: joi.number().integer(),
  flap_minutes: joi.number().integer(),
  quiet_from: joi.string().allow(null),
  quiet_to: joi.string().allow(null),
  timezone: joi.string().allow(null),
  critical_immediately: joi.boolean(),
  digest_minutes: joi.number().integer(),
  last_sent_at: timestamp.allow(null),
  last_error: joi.string().allow(null),
  failing_since: timestamp.allow(null).description('First failed attempt since the last success'),
  disabled_reason: joi.string().allow(null).description('Why it was disabled automatically'),
  disabled_at: timestamp.allow(null),
  created_at: timestamp,
  created_by: joi.string(),
  updated_at: timestamp,
};
const channelShape = withSchemaName('Channel', whole(channelFields).keys({ managed: MANAGED_FIELD }));
const channelOutput = withSchemaName('ChannelAnswer', whole({ channel: channelShape }));

const recipients = joi
  .array()
  .items(
    whole({
      address: joi.string().allow(''),
      state: joi.string().valid('waiting', 'sent', 'failed'),
      error: joi.string().allow(null),
    }),
  )
  .description('For a channel with several recipients, if they differ');

const deliveryShape = withSchemaName(
  'ChannelDelivery',
  whole({
    id: joi.string(),
    event: joi.string(),
    severity,
    title: joi.string(),
    text: joi.string().allow(''),
    url: joi.string().description('Path of the related page'),
    at: timestamp,
    state: joi
      .string()
      .valid(...DELIVERY_STATES)
      .description('`held`: the channel is disabled. `damped`: a flapping monitor recovered before it was sent'),
    attempts: joi.number().integer(),
    next_attempt_at: timestamp.allow(null),
    sent_at: timestamp.allow(null),
    error: joi.string().allow(null),
    recipients,
  }),
);

const testShape = withSchemaName(
  'ChannelTest',
  whole({
    delivery: whole({
      state: joi.string().valid('sent', 'failed'),
      duration_ms: joi.number().integer(),
      error: joi.string().allow(null),
      recipients,
    }),
  }),
);

interface RouteServices {
  channels: ChannelService;
  tests: TestMessageSender;
  reader: RecipientReader;
}

export function buildChannelRoutes({ channels, tests, reader }: RouteServices): RouteSpec[] {
  const shown = (channel: Channel): object => omitLegacyFields(channels.toView(channel));
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listChannels',
      tag: 'notifications',
      summary: 'List the notification channels',
      description: 'Sorted by name. A token limited to a project sees only the channels of that project.',
      access,
      strictQuery: true,
      input: { query: joi.object(listFields) },
      output: createPageSchema('ChannelPage', channelShape),
      handle: async ({ principal, query }) => {
        const listQuery = query as ListQuery;
        const page = await channels.listPage(principal, listQuery.limit ?? 50, listQuery.cursor ?? null);
        const count = async (): Promise<number> => (await channels.list(principal)).length;
        return buildPageResponse({ ...page, items: page.items.map(shown) }, listQuery, count);
      },
    },
    {
      method: 'POST',
      path: BASE,
      operationId: 'createChannel',
      tag: 'notifications',
      summary: 'Create a notification channel',
      description:
        '`target`, `secret`, `server`, `headers` and `template` depend on the kind; unused ones are 422. Targets and secrets are stored encrypted and not returned.',
      access,
      input: { body: createBody },
      status: 201,
      output: channelOutput,
      handle: async ({ principal, body }) =>
        created({ channel: shown(await channels.create(principal, body as ChannelInput)) }),
    },
    {
      method: 'GET',
      path: `${BASE}/{id}`,
      operationId: 'getChannel',
      tag: 'notifications',
      summary: 'Get a notification channel',
      access,
      input: { params },
      output: channelOutput,
      handle: async ({ principal, params: { id = '' } }) => ({
        channel: shown(await channels.getChannel(principal, id)),
      }),
    },
    {
      method: 'PATCH',
      path: `${BASE}/{id}`,
      operationId: 'changeChannel',
      tag: 'notifications',
      summary: 'Change a notification channel',
      description: 'Only the given fields change. `enabled: true` sends the notifications held while it was disabled.',
      access,
      input: { params, body: changeBody },
      output: channelOutput,
      handle: async ({ principal, params: { id = '' }, body }) => ({
        channel: shown(await channels.change(principal, id, body as ChannelInput)),
      }),
    },
    {
      method: 'DELETE',
      path: `${BASE}/{id}`,
      operationId: 'deleteChannel',
      tag: 'notifications',
      summary: 'Delete a notification channel and its unsent notifications',
      access,
      input: { params },
      output: deleted,
      handle: async ({ principal, params: { id = '' } }) => {
        await channels.remove(principal, id);
        return { deleted: true };
      },
    },
    {
      method: 'POST',
      path: `${BASE}/{id}/test`,
      operationId: 'testChannel',
      tag: 'notifications',
      summary: 'Send a test message and return the response',
      description: 'One attempt, not counted, also on a disabled channel. 200 even if the receiver failed.',
      access,
      input: { params, body: joi.object({}), optionalBody: true },
      output: testShape,
      handle: async ({ principal, params: { id = '' } }) => ({
        delivery: await tests.send(await channels.getChannel(principal, id)),
      }),
    },
    {
      method: 'GET',
      path: `${BASE}/{id}/deliveries`,
      operationId: 'listChannelDeliveries',
      tag: 'notifications',
      summary: 'List the notifications of a channel',
      description: 'Newest first; stored for 14 days.',
      access,
      strictQuery: true,
      input: { params, query: joi.object(listFields) },
      output: createPageSchema('ChannelDeliveryPage', deliveryShape),
      handle: async ({ principal, params: { id = '' }, query }) => {
        const listQuery = query as ListQuery;
        const channel = await channels.getChannel(principal, id);
        const page = await channels.listDeliveries(id, listQuery.limit ?? 50, listQuery.cursor ?? null);
        const items = page.items.map((note) => toDeliveryView(note, channel, reader));
        return buildPageResponse({ ...page, items }, listQuery, () => channels.countDeliveries(id));
      },
    },
  ];
}

/** Earlier versions stored more fields. */
const omitLegacyFields = (view: ChannelView): object => ({
  ...Object.fromEntries(Object.keys(channelFields).map((name) => [name, view[name as keyof ChannelView] ?? null])),
  ...(view.managed && { managed: view.managed }),
});
