/**
 * Notifications for people: e-mail, chat and push, by channels and rules of their own. Webhooks tell programs
 * everything, at once; a channel tells people what they asked for, in quiet hours later, and many at a time. Off until
 * there is a channel; built on the plugin contract and the domain's ports alone, as a plugin from outside is.
 */
import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { FIRST_STEPS } from '../../ports/domain/dashboard.js';
import { PROJECT_BELONGINGS, PROJECTS } from '../../ports/domain/projects.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { ALARM_RECEIVERS } from '../../ports/domain/alarms/receivers.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { DAY_MS, isoOf } from '../../lib/time.js';
import { KIND_NAMES, type Channel } from './channels/channel.js';
import { Channels } from './channels/channels.js';
import { EVENTS } from './notes/note.js';
import type { StoredNote } from './notes/stored-note.js';
import { pages, panels } from './pages/pages.js';
import { channelSearch } from './pages/search.js';
import { KnownRules } from './rules/known-rules.js';
import type { NotificationRule } from './rules/rule.js';
import { Dispatcher } from './sending/dispatcher.js';
import { EmailSender, type SmtpConfig } from './sending/email.js';
import { NtfySender, SlackSender, TeamsSender } from './sending/hooks.js';
import { told } from './sending/told.js';
import { NoteQueue } from './sending/queue.js';

/** What was sent is kept as long as the deliveries of webhooks. */
const KEPT_MS = 14 * DAY_MS;

interface NotificationsConfig extends SmtpConfig {
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

const text = (description: string): joi.StringSchema => joi.string().allow('').default('').description(description);

const config = joi.object({
  smtp_host: text('Server that takes e-mail; empty: there is no e-mail'),
  smtp_port: joi.number().port().default(587).description('Its port'),
  smtp_security: joi
    .string()
    .valid('starttls', 'tls', 'none')
    .default('starttls')
    .description(
      '`starttls` (port 587), `tls` from the first byte (port 465), or `none` for a server of the own network',
    ),
  smtp_user: text('User name at that server; empty: none is asked for'),
  smtp_password: text('Its password'),
  smtp_from: joi.string().default('aos@localhost').description('Sender of e-mail'),
  egress_policy: joi
    .string()
    .valid('private-ok', 'public-only')
    .default('private-ok')
    .description('Where hooks may go, as `webhooks.egress_policy`'),
  allow_cidrs: joi
    .array()
    .items(joi.string().ip({ cidr: 'required' }))
    .default([])
    .description('Networks that `public-only` lets pass'),
});

export default definePlugin<NotificationsConfig>({
  id: 'notifications',
  version: '1.0.0',
  api: 1,
  title: 'Notifications',
  needs: [AUDIT.name, PROJECTS.name],
  extends: [ALARM_RECEIVERS.point, PROJECT_BELONGINGS.point, SEARCH_PROVIDERS.point, FIRST_STEPS.point],
  config,
  collections: [
    { name: 'channels', indexes: [{ fields: ['name'] }] },
    { name: 'rules', indexes: [{ fields: ['channel_id'] }] },
    {
      name: 'notes',
      indexes: [
        { fields: ['channel_id', 'state'] },
        { fields: ['channel_id', 'at'] },
        { fields: ['state', 'send_at'] },
        { fields: ['fault'] },
        { fields: ['at'] },
      ],
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const { clock, ids, log, app, config: set } = ctx;
    const { cipher, outbound } = ctx.ports;
    const [channelRows, rules, notes] = [
      ctx.collection<Channel>('channels'),
      ctx.collection<NotificationRule>('rules'),
      ctx.collection<StoredNote>('notes'),
    ];
    const policy: EgressPolicy = { mode: set.egress_policy, allow: set.allow_cidrs };
    const hook = [outbound, policy, app.version] as const;
    const senders = {
      ...(set.smtp_host !== '' && { email: new EmailSender(set) }),
      slack: new SlackSender(...hook),
      teams: new TeamsSender(...hook),
      ntfy: new NtfySender(...hook),
    };
    const kinds = KIND_NAMES.filter((kind) => kind in senders);
    const audit = ctx.resolve(AUDIT);
    const known = new KnownRules(rules, clock);
    const channels = new Channels({
      channels: channelRows,
      rules,
      known,
      notes,
      clock,
      ids,
      cipher,
      outbound,
      audit,
      policy,
      kinds,
    });
    const baseUrl = (): string => app.base_url;
    const open = (channel: Channel): { target: string; secret: string | null } => channels.open(channel);
    const dispatcher = new Dispatcher(notes, channelRows, senders, open, { clock, ids, log, baseUrl });
    const queue = new NoteQueue(notes, channelRows, known, clock);
    const projects = async (): Promise<{ value: string; label: string }[]> =>
      (await ctx.resolve(PROJECTS).list()).map(({ slug, name }) => ({ value: slug, label: name }));
    return {
      pages: pages({ channels, dispatcher, kinds, timezone: app.timezone, baseUrl, now: () => clock.iso(), projects }),
      panels: panels(channels),
      extensions: [
        extend(ALARM_RECEIVERS, {
          told: ({ id }) => told(notes, channelRows, id),
          said: async (word) => dispatcher.wake(await queue.said(word)),
        }),
        extend(PROJECT_BELONGINGS, {
          clear: async (project) => {
            await rules.remove({ project });
            known.changed();
          },
        }),
        extend(SEARCH_PROVIDERS, channelSearch(channels)),
        extend(FIRST_STEPS, {
          id: 'channel',
          order: 70,
          title: 'Be told',
          text: 'A channel tells people by mail, Slack, Teams or ntfy; a webhook tells a program.',
          page: { label: 'New channel', href: '/notifications/new' },
          done: async () => (await channelRows.find({ limit: 1 })).items.length > 0,
          command: null,
          token: null,
        }),
      ],
      listens: EVENTS.map((event) => ({
        event,
        durable: true,
        handle: async (happened) => dispatcher.wake(await queue.take(happened)),
      })),
      jobs: [
        { name: 'send', everyMs: 30_000, run: () => dispatcher.due() },
        {
          name: 'forget',
          everyMs: 3_600_000,
          removesByAge: true,
          run: async () => {
            await notes.remove({
              at: { lt: isoOf(clock.now() - KEPT_MS) },
              state: { in: ['sent', 'failed'] },
            });
          },
        },
      ],
      health: async () => {
        const disabled = (await channels.list()).filter((one) => one.disabled_reason !== null).length;
        return { ok: disabled === 0, channels_disabled: disabled, waiting: await notes.count({ state: 'waiting' }) };
      },
      stop: () => dispatcher.stop(),
    };
  },
});
