import joi from 'joi';
import {
  createCsvFile,
  createFormPage,
  getFormFields,
  invalid,
  createPageActions,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { formatCsvRecords } from '../../../lib/text/csv.js';
import { formatOutboundFault } from '../../../lib/http/outbound-fault.js';
import type { Clock } from '../../../ports/clock.js';
import { capitalize } from '../../../lib/sentence.js';
import { ALL_EVENTS, type Channel } from '../channels/channel.js';
import { CHANNEL_KINDS } from '../channels/channel-kinds.js';
import { toDeliveryView, type RecipientReader } from '../http/delivery-view.js';
import { END_LABELS, TOPICS, type EndEvent, type Topic } from '../notes/topics.js';
import { describeFailures } from '../sending/send-attempt.js';
import type { TestMessageSender } from '../sending/test-message.js';
import { renderEditor, readChannelForm, type EditorServices } from './channel-editor.js';

const access = { session: 'admin' } as const;
const title = 'Alerts';
const crumb = { label: title, href: '/notifications' };
const id = joi.string().guid().required();
const params = joi.object({ id });
const MAX_SHOWN_DELIVERIES = 50;

export interface NotificationPageServices extends EditorServices {
  tests: TestMessageSender;
  clock: Pick<Clock, 'iso'>;
  reader: RecipientReader;
}

function describeFilter({
  events,
  min_severity,
  monitors,
  tags,
  projects,
}: Channel): { label: string; value: string }[] {
  const names = events.includes(ALL_EVENTS)
    ? ['All events']
    : events.map((name) => TOPICS[name as Topic] ?? END_LABELS[name as EndEvent] ?? name);
  const lines = [
    { label: 'Events', value: names.join('; ') || 'None' },
    { label: 'Severity', value: min_severity === 'low' ? 'All severities' : `${capitalize(min_severity)} and higher` },
    { label: 'Projects', value: projects.join(', ') || 'All projects' },
    { label: 'Monitors', value: monitors.join(', ') || 'All' },
    { label: 'Tags', value: tags.join(', ') || 'All' },
  ];
  return lines;
}

async function renderChannelPage(
  { channels, reader }: NotificationPageServices,
  request: HttpRequest,
  done: Record<string, unknown> = {},
): Promise<View> {
  const channel = await channels.getChannel(request.principal, request.params['id'] ?? '');
  const [recent, waiting] = await Promise.all([
    channels.listDeliveries(channel.id, MAX_SHOWN_DELIVERIES),
    channels.countWaiting(channel.id),
  ]);
  return new View('channel', {
    title: channel.name,
    channel: {
      ...channels.toView(channel),
      kind_label: CHANNEL_KINDS[channel.kind].label,
      last_error: channel.last_error && formatOutboundFault(channel.last_error),
    },
    filter: describeFilter(channel),
    recent: recent.items.map((note) => {
      const view = toDeliveryView(note, channel, reader);
      const error = describeFailures(view.recipients) ?? view.error;
      return Object.assign(view, { error: error && formatOutboundFault(error) });
    }),
    waiting,
    crumbs: [crumb, { label: channel.name }],
    ...done,
  });
}

const CSV_COLUMNS = ['name', 'kind', 'target', 'enabled', 'disabled_reason', 'failing_since', 'last_sent_at'] as const;

export function buildNotificationPages(parts: NotificationPageServices): PageSpec[] {
  const { channels, tests, clock } = parts;
  const action = createPageActions(
    { path: '/notifications/{id}', title, access, input: { params } },
    (request, { message }) => renderChannelPage(parts, request, { problem: message }),
  );
  return [
    {
      path: '/notifications',
      title,
      nav: {
        section: 'administration',
        group: 'alerts',
        label: title,
        icon: 'bell',
        order: 10,
        also: [
          'alerts',
          'channels',
          'e-mail',
          'email',
          'mail',
          'chat',
          'slack',
          'teams',
          'telegram',
          'pagerduty',
          'matrix',
        ],
      },
      access,
      input: { query: joi.object({ format: joi.string().valid('csv').empty('') }) },
      handle: async ({ query }) => {
        const items = (await channels.list()).map((one) =>
          Object.assign(channels.toView(one), { kind_label: CHANNEL_KINDS[one.kind].label }),
        );
        if (query['format'] === 'csv') return createCsvFile('channels', formatCsvRecords(CSV_COLUMNS, items));
        return new View('channels', { items });
      },
    },
    {
      path: '/notifications/new',
      title: 'New channel',
      access,
      input: { query: joi.object({ kind: joi.string().max(40) }) },
      handle: (request) => renderEditor(parts, request),
    },
    createFormPage(
      { path: '/notifications', title, access, creates: true },
      async (request) => {
        const { principal } = request;
        const draft = channels.build(principal, readChannelForm(request, null));
        const isTested = getFormFields(request)['action'] === 'test';
        const failure = isTested ? (await tests.send(draft)).error : null;
        if (failure !== null) throw invalid({ test: formatOutboundFault(failure) });
        const last_sent_at = isTested ? clock.iso() : null;
        const made = await channels.insert(principal, { ...draft, last_sent_at });
        return new Redirect(`/notifications/${made.id}`, {
          tone: 'success',
          message: isTested ? 'Test sent, channel created.' : 'Channel created.',
        });
      },
      (request, problem) => renderEditor(parts, request, problem),
    ),
    {
      path: '/notifications/{id}',
      title,
      access,
      input: { params },
      handle: (request) => renderChannelPage(parts, request),
    },
    {
      path: '/notifications/{id}/edit',
      title,
      access,
      input: { params },
      handle: (request) => renderEditor(parts, request),
    },
    createFormPage(
      { path: '/notifications/{id}/edit', title, access, input: { params } },
      async (request) => {
        const known = await channels.getChannel(request.principal, request.params['id'] ?? '');
        await channels.change(request.principal, known.id, readChannelForm(request, known));
        return new Redirect(`/notifications/${known.id}`, { tone: 'success', message: 'Channel saved.' });
      },
      (request, problem) => renderEditor(parts, request, problem),
    ),
    action('test', async (request, channelId) => {
      const result = await tests.send(await channels.getChannel(request.principal, channelId));
      return renderChannelPage(parts, request, {
        test: { failure: result.error && formatOutboundFault(result.error) },
      });
    }),
    action('enable', async (request, channelId) => {
      await channels.change(request.principal, channelId, { enabled: true });
      return new Redirect(`/notifications/${channelId}`, {
        tone: 'success',
        message: 'Channel enabled. Waiting alerts are being sent.',
      });
    }),
    action('delete', async (request, channelId) => {
      await channels.remove(request.principal, channelId);
      return new Redirect('/notifications', { tone: 'success', message: 'Channel deleted.' });
    }),
  ];
}
