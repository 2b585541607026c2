import { getFormFields, fromForm, View, type HttpRequest, type FormRejection } from '../../../kernel/contract/index.js';
import { ALL_EVENTS, type Channel } from '../channels/channel.js';
import { formFields, type ChannelInput } from '../channels/channel-fields.js';
import type { ChannelService } from '../channels/channel-service.js';
import { CHANNEL_KIND_NAMES, CHANNEL_KINDS, type ChannelKind } from '../channels/channel-kinds.js';
import { SEVERITIES } from '../notes/note.js';
import { END_EVENTS, END_LABELS, TOPIC_NAMES, TOPICS, type EndEvent } from '../notes/topics.js';

export interface EditorServices {
  channels: ChannelService;
  kinds: readonly ChannelKind[];
  timezone: string;
  projects: () => Promise<{ value: string; label: string }[]>;
}

const BREADCRUMB = { label: 'Alerts', href: '/notifications' };
const INITIAL_EVENTS: readonly string[] = [
  'monitor.down',
  'monitor.certificate_expiring',
  'bug.critical',
  'release.halted',
  'webhook.disabled',
  'channel.disabled',
];

/** `Slack` of `Slack, Mattermost or Discord`. */
const getShortLabel = (kind: ChannelKind): string => CHANNEL_KINDS[kind].label.split(',')[0] ?? kind;

const isKind = (kind: unknown): kind is ChannelKind => CHANNEL_KIND_NAMES.some((name) => name === kind);

function getChosenEvents(form: Record<string, unknown>): unknown[] {
  const ticked = [form['events'] ?? []].flat();
  const single = ticked.filter((name) => name !== ALL_EVENTS);
  return single.length > 0 ? single : ticked;
}

/** @throws ServiceError validation_failed */
export function readChannelForm(request: HttpRequest, known: Channel | null): ChannelInput {
  const form = getFormFields(request);
  const input = fromForm(formFields, {
    ...form,
    events: getChosenEvents(form),
    ...(known !== null && { kind: known.kind }),
  }) as ChannelInput;
  const { custom } = CHANNEL_KINDS[known?.kind ?? input.kind ?? 'email'];
  if (custom === true) return input;
  const { headers: _headers, template: _template, ...rest } = input;
  return rest;
}

export const SMTP_SETTINGS = ['notifications.smtp_host', 'notifications.smtp_from'];
/** Fields of the folded part of the form. */
const ADVANCED_FIELDS = [
  'headers',
  'template',
  'min_severity',
  'projects',
  'monitors',
  'tags',
  'repeat_minutes',
  'flap_minutes',
  'digest_minutes',
  'quiet_from',
  'quiet_to',
  'timezone',
];

function renderKindList(kinds: readonly ChannelKind[]): View {
  return new View('channel-kinds', {
    smtp: SMTP_SETTINGS,
    kinds: CHANNEL_KIND_NAMES.map((kind) => ({ kind, spec: CHANNEL_KINDS[kind], disabled: !kinds.includes(kind) })),
    crumbs: [BREADCRUMB, { label: 'New channel' }],
  });
}

/** A URL is never shown again; empty keeps it. */
function toStoredForm(channels: ChannelService, channel: Channel): Record<string, unknown> {
  const view = channels.toView(channel);
  const isUrl = CHANNEL_KINDS[channel.kind].target?.format === 'url' || channel.kind === 'pushover';
  return { ...view, target: isUrl ? '' : channels.decryptDestination(channel).target };
}

export async function renderEditor(
  parts: EditorServices,
  request: HttpRequest,
  problem?: FormRejection,
): Promise<View> {
  const { channels, kinds, timezone, projects } = parts;
  const id = request.params['id'];
  const known = id === undefined ? null : await channels.getChannel(request.principal, id);
  const submitted = getFormFields(request);
  const kind = known?.kind ?? submitted['kind'] ?? request.query['kind'];
  if (!isKind(kind)) return renderKindList(kinds);
  const initial = {
    name: getShortLabel(kind),
    enabled: true,
    critical_immediately: true,
    min_severity: 'low',
    events: INITIAL_EVENTS,
  };
  const stored = known === null ? initial : toStoredForm(channels, known);
  const form: Record<string, unknown> = problem === undefined ? stored : submitted;
  const isTicked = (name: string): boolean => form[name] === true || form[name] === 'true';
  const list = (name: string): unknown[] => [form[name] ?? []].flat();
  const joined = (name: string): string => list(name).join(', ');
  const spec = CHANNEL_KINDS[kind];
  const preset = spec.server?.presence;
  const all = await projects();
  const secretOptional = spec.secret?.presence === 'optional';
  const advanced = [
    ...ADVANCED_FIELDS,
    ...(secretOptional ? ['secret'] : []),
    ...(spec.server?.presence === 'required' ? [] : ['server']),
  ];
  return new View('channel-form', {
    known: known && channels.toView(known),
    kind,
    spec,
    required: {
      target: spec.target?.presence === 'required' && known === null,
      secret: spec.secret?.presence === 'required' && known === null,
      server: spec.server?.presence === 'required',
    },
    secret_optional: secretOptional,
    advanced_open: advanced.some((name) => problem?.errors[name] !== undefined),
    server_default: typeof preset === 'object' ? preset.default : null,
    form: { ...form, monitors: joined('monitors'), tags: joined('tags') },
    stored_headers: known === null ? '' : channels.toView(known).header_names.join(', '),
    severities: SEVERITIES,
    events: [
      ...TOPIC_NAMES.map((value) => ({ value, label: TOPICS[value] })),
      ...list('events')
        .filter((name) => END_EVENTS.some((end) => end === name))
        .map((name) => ({ value: String(name), label: END_LABELS[name as EndEvent] })),
      { value: ALL_EVENTS, label: 'All events' },
    ].map((event) => Object.assign(event, { checked: list('events').includes(event.value) })),
    projects: all.map((project) => Object.assign(project, { checked: list('projects').includes(project.value) })),
    timezone,
    enabled: isTicked('enabled'),
    urgent: isTicked('critical_immediately'),
    action: known === null ? '/notifications' : `/notifications/${known.id}/edit`,
    crumbs: [
      BREADCRUMB,
      known === null ? { label: 'New channel' } : { label: known.name, href: `/notifications/${known.id}` },
    ],
    ...problem,
  });
}
