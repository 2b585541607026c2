/** /notifications: channels, their rules, and what was sent; for administrators. */
import joi from 'joi';
import {
  fromForm,
  formPage,
  pageActions,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
  type PanelSpec,
  type Problem,
} from '../../../kernel/contract.js';
import { channelFields, KINDS, type Channel, type ChannelFields, type ChannelKind } from '../channels/channel.js';
import type { Channels } from '../channels/channels.js';
import { messageOf } from '../notes/message.js';
import { SEVERITIES, TOPICS, TOPIC_NAMES } from '../notes/note.js';
import { ruleFields, type NotificationRule, type NotificationRuleFields } from '../rules/rule.js';
import type { Dispatcher } from '../sending/dispatcher.js';

const access = { session: 'admin' } as const;
const title = 'Notifications';
const crumb = { label: title, href: '/notifications' };
const id = joi.string().guid().required();
const params = joi.object({ id });
const ofRule = joi.object({ id, rule: id });

export interface NotificationPageParts {
  channels: Channels;
  dispatcher: Dispatcher;
  kinds: readonly ChannelKind[];
  timezone: string;
  baseUrl: () => string;
  now: () => string;
  projects: () => Promise<{ value: string; label: string }[]>;
}

const typed = ({ body }: HttpRequest): Record<string, unknown> =>
  body !== null && typeof body === 'object' ? { ...body } : {};

/** A channel as its form shows it; a hook's address is not shown again, so an empty one keeps what is stored. */
function formOf(channels: Channels, channel: Channel): Record<string, unknown> {
  const { quiet } = channel;
  return {
    ...channels.view(channel),
    target: channel.kind === 'email' ? channels.open(channel).target : '',
    quiet_from: quiet?.from ?? '',
    quiet_to: quiet?.to ?? '',
    timezone: quiet?.timezone,
  };
}

async function editor(
  { channels, kinds, timezone }: NotificationPageParts,
  request: HttpRequest,
  problem?: Problem,
): Promise<View> {
  const known = request.params['id'] === undefined ? null : await channels.need(request.params['id']);
  const stored = known === null ? { enabled: true, urgent_at_once: true, digest_minutes: 0 } : formOf(channels, known);
  const form = problem === undefined ? stored : typed(request);
  const ticked = (name: string): boolean => form[name] === true || form[name] === 'true';
  return new View('channel-form', {
    known: known && channels.view(known),
    form: { ...form, timezone: form['timezone'] ?? timezone },
    enabled: ticked('enabled'),
    urgent: ticked('urgent_at_once'),
    kinds: kinds.map((kind) => ({ value: kind, label: KINDS[kind] })),
    no_email: !kinds.includes('email'),
    action: known === null ? '/notifications' : `/notifications/${known.id}/edit`,
    crumbs: [
      crumb,
      known === null ? { label: 'New channel' } : { label: known.name, href: `/notifications/${known.id}` },
    ],
    ...problem,
  });
}

function submitted(channels: Channels, request: HttpRequest, known: Channel | null): ChannelFields {
  const form = typed(request);
  const target = form['target'] === '' && known !== null ? channels.open(known).target : form['target'];
  const kind = known?.kind ?? form['kind'];
  return fromForm(channelFields(kind), { ...form, target, kind }) as ChannelFields;
}

const ruleView = ({ id: rule, project, topics, least_severity }: NotificationRule): object => ({
  id: rule,
  project,
  least_severity,
  texts: topics.map((topic) => TOPICS[topic]),
});

async function shown(
  { channels, projects }: NotificationPageParts,
  request: HttpRequest,
  done: Record<string, unknown> = {},
): Promise<View> {
  const channel = await channels.need(request.params['id'] ?? '');
  const [rules, recent] = await Promise.all([channels.rules(channel.id), channels.recent(channel.id)]);
  return new View('channel', {
    title: channel.name,
    channel: { ...channels.view(channel), kind_label: KINDS[channel.kind] },
    rules: rules.map(ruleView),
    recent,
    topics: TOPIC_NAMES.map((topic) => ({ value: topic, label: TOPICS[topic] })),
    severities: SEVERITIES,
    projects: await projects(),
    form: { least_severity: 'low' },
    crumbs: [crumb, { label: channel.name }],
    ...done,
  });
}

const actionsOf = (parts: NotificationPageParts): ReturnType<typeof pageActions> =>
  pageActions({ path: '/notifications/{id}', title, access, input: { params } }, (request, { message, errors }) =>
    shown(parts, request, { problem: message, errors, form: typed(request) }),
  );

const back = (request: HttpRequest, message: string): Redirect =>
  new Redirect(`/notifications/${request.params['id'] ?? ''}`, { tone: 'success', message });

/** Sends a message of its own, and says what the receiver did with it. */
async function test(parts: NotificationPageParts, request: HttpRequest): Promise<View> {
  const channel = await parts.channels.need(request.params['id'] ?? '');
  const at = parts.now();
  const text = `Sent by hand to the channel ${channel.name}.`;
  const note = {
    id: `test:${channel.id}:${at}`,
    severity: 'low',
    title: 'A test',
    text,
    url: '/notifications',
    at,
    end: false,
  } as const;
  const failure = await parts.dispatcher.deliver(channel, messageOf([note], parts.baseUrl())).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  return shown(parts, request, { test: { failure } });
}

export function pages(parts: NotificationPageParts): PageSpec[] {
  const { channels } = parts;
  const action = actionsOf(parts);
  return [
    {
      path: '/notifications',
      title,
      nav: {
        section: 'administration',
        label: title,
        icon: 'send',
        order: 45,
        also: ['alerts', 'channels', 'e-mail', 'email', 'mail', 'chat', 'slack', 'teams'],
      },
      access,
      handle: async () => {
        const items = (await channels.list()).map((one) =>
          Object.assign(channels.view(one), { kind_label: KINDS[one.kind] }),
        );
        return new View('channels', { items });
      },
    },
    { path: '/notifications/new', title: 'New channel', access, handle: (request) => editor(parts, request) },
    formPage(
      { path: '/notifications', title, access, creates: true },
      async (request) => {
        const { principal } = request;
        const by = principal.kind === 'session' ? principal.username : principal.kind;
        const made = await channels.create(principal, submitted(channels, request, null), by);
        return new Redirect(`/notifications/${made.id}`, {
          tone: 'success',
          message: 'Channel created. Say below what it is sent.',
        });
      },
      (request, problem) => editor(parts, request, problem),
    ),
    { path: '/notifications/{id}', title, access, input: { params }, handle: (request) => shown(parts, request) },
    { path: '/notifications/{id}/edit', title, access, input: { params }, handle: (request) => editor(parts, request) },
    formPage(
      { path: '/notifications/{id}/edit', title, access, input: { params } },
      async (request) => {
        const known = await channels.need(request.params['id'] ?? '');
        await channels.change(request.principal, known.id, submitted(channels, request, known));
        return back(request, 'Channel saved.');
      },
      (request, problem) => editor(parts, request, problem),
    ),
    action('test', (request) => test(parts, request)),
    action('rules', async (request, id) => {
      await channels.addRule(request.principal, id, fromForm(ruleFields, typed(request)) as NotificationRuleFields);
      return back(request, 'Rule added.');
    }),
    action(
      'rules/{rule}/delete',
      async (request, id) => {
        await channels.removeRule(request.principal, id, request.params['rule'] ?? '');
        return back(request, 'Rule removed.');
      },
      { params: ofRule },
    ),
    action('delete', async (request, id) => {
      await channels.remove(request.principal, id);
      return new Redirect('/notifications', { tone: 'success', message: 'Channel deleted.' });
    }),
  ];
}

/** Red: people rely on it, and nothing reaches them any more. */
export function panels(channels: Channels): PanelSpec[] {
  return [
    {
      id: 'notifications.disabled',
      kind: 'attention',
      order: 35,
      load: async ({ role }) => {
        const items = (await channels.list()).filter((one) => !one.enabled && one.disabled_reason !== null);
        if (items.length === 0 || role !== 'admin') return null;
        return new View('panel-disabled', {
          items: items.map(({ id: channel, name, disabled_reason }) => ({ id: channel, name, disabled_reason })),
        });
      },
    },
  ];
}
