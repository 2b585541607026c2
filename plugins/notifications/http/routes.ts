/** `/api/notifications/v1` (contract 30, amendments, channels). */
import joi from 'joi';
import { created, deleted, named, pageOf, whole, type RouteSpec } from '../../../kernel/contract.js';
import type { Channel } from '../channels/channel.js';
import { changeBody, createBody, type ChannelInput } from '../channels/channel-fields.js';
import type { Channels, ChannelView } from '../channels/channels.js';
import { KIND_NAMES } from '../channels/kinds.js';
import { SEVERITIES } from '../notes/note.js';
import type { TestMessages } from '../sending/test-message.js';
import { DELIVERY_STATES, toDeliveryView, type DeliveryReader } from './delivery-view.js';

const BASE = '/api/notifications/v1/channels';
const access = { scope: 'notifications:manage' } as const;
const params = joi.object({ id: joi.string().max(64).required() });
const list = {
  limit: joi.number().integer().min(1).max(200).default(50),
  cursor: joi.string().max(4_096),
  include_total: joi.boolean().default(false),
};

interface ListQuery {
  limit?: number;
  cursor?: string;
  include_total?: boolean;
}

async function toPage(
  { items, next }: { items: object[]; next: string | null },
  { include_total }: ListQuery,
  count: () => Promise<number>,
): Promise<object> {
  const page = { items, next_cursor: next, has_more: next !== null };
  return include_total === true ? { ...page, total: await count() } : page;
}

const timestamp = joi.string().isoDate();
const texts = joi.array().items(joi.string());
const severity = joi.string().valid(...SEVERITIES);

const channelFields = {
  id: joi.string(),
  name: joi.string(),
  kind: joi.string().valid(...KIND_NAMES),
  enabled: joi.boolean(),
  target: joi.string().allow(null).description('Of a URL only scheme and host'),
  has_secret: joi.boolean(),
  server: joi.string().allow(null),
  header_names: texts,
  template: joi.string().allow(null),
  events: texts,
  min_severity: severity,
  monitors: texts,
  tags: texts,
  projects: texts,
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
  disabled_reason: joi.string().allow(null).description('Why it disabled itself'),
  disabled_at: timestamp.allow(null),
  created_at: timestamp,
  created_by: joi.string(),
  updated_at: timestamp,
};
const channelShape = named('Channel', whole(channelFields));
const one = named('ChannelAnswer', whole({ channel: channelShape }));

const recipients = joi
  .array()
  .items(
    whole({
      address: joi.string().allow(''),
      state: joi.string().valid('waiting', 'sent', 'failed'),
      error: joi.string().allow(null),
    }),
  )
  .description('Of a channel with several recipients, once they differ');

const deliveryShape = named(
  'ChannelDelivery',
  whole({
    id: joi.string(),
    event: joi.string(),
    severity,
    title: joi.string(),
    text: joi.string().allow(''),
    url: joi.string().description('Path of the page that it is about'),
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

const testShape = named(
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

interface Parts {
  channels: Channels;
  tests: TestMessages;
  reader: DeliveryReader;
}

export function routes({ channels, tests, reader }: Parts): RouteSpec[] {
  const shown = (channel: Channel): object => pickShape(channels.view(channel));
  return [
    {
      method: 'GET',
      path: BASE,
      operationId: 'listChannels',
      tag: 'notifications',
      summary: 'List the notification channels',
      description: 'By name. A token of a project sees the channels that are for that project alone.',
      access,
      strictQuery: true,
      input: { query: joi.object(list) },
      output: pageOf('ChannelPage', channelShape),
      handle: async ({ principal, query }) => {
        const asked = query as ListQuery;
        const page = await channels.listPage(principal, asked.limit ?? 50, asked.cursor ?? null);
        const count = async (): Promise<number> => (await channels.list(principal)).length;
        return toPage({ ...page, items: page.items.map(shown) }, asked, count);
      },
    },
    {
      method: 'POST',
      path: BASE,
      operationId: 'createChannel',
      tag: 'notifications',
      summary: 'Create a notification channel',
      description:
        '`target`, `secret`, `server`, `headers` and `template` depend on the kind; one that it does not use is 422. Targets and secrets are stored encrypted and not returned.',
      access,
      input: { body: createBody },
      status: 201,
      output: one,
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
      output: one,
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
      description: 'Only what is given changes. `enabled: true` sends what has waited while it was disabled.',
      access,
      input: { params, body: changeBody },
      output: one,
      handle: async ({ principal, params: { id = '' }, body }) => ({
        channel: shown(await channels.change(principal, id, body as ChannelInput)),
      }),
    },
    {
      method: 'DELETE',
      path: `${BASE}/{id}`,
      operationId: 'deleteChannel',
      tag: 'notifications',
      summary: 'Delete a notification channel with what waits to be sent',
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
      summary: 'Send a test message now and answer what came back',
      description: 'One attempt, not counted, on a disabled channel too. 200 also when the receiver failed.',
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
      description: 'Newest first; kept for 14 days.',
      access,
      strictQuery: true,
      input: { params, query: joi.object(list) },
      output: pageOf('ChannelDeliveryPage', deliveryShape),
      handle: async ({ principal, params: { id = '' }, query }) => {
        const asked = query as ListQuery;
        const channel = await channels.getChannel(principal, id);
        const page = await channels.listDeliveries(id, asked.limit ?? 50, asked.cursor ?? null);
        const items = page.items.map((note) => toDeliveryView(note, channel, reader));
        return toPage({ ...page, items }, asked, () => channels.countDeliveries(id));
      },
    },
  ];
}

/** Omits fields of earlier versions, which stored documents may contain. */
const pickShape = (view: ChannelView): object =>
  Object.fromEntries(Object.keys(channelFields).map((name) => [name, view[name as keyof ChannelView] ?? null]));
