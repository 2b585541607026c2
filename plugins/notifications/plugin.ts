/**
 * For people: selected events with quiet hours and digests, by e-mail, chat, phone and on-call
 * services. Webhooks send every event to programs immediately.
 */
import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract/index.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { INTEGRATIONS } from '../../ports/domain/alarms/integrations.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { PROJECT_CLEANUPS, PROJECTS } from '../../ports/domain/projects.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { MAIL_QUEUE, MAIL_QUEUES } from '../../ports/domain/mail/mail-queue.js';
import { ALARM_RECEIVERS } from '../../ports/domain/alarms/receivers.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { DAY_MS, toIsoString } from '../../lib/time.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createChannelKind } from './channels/channel-config-kind.js';
import type { Channel } from './channels/channel.js';
import { ChannelCache } from './channels/channel-cache.js';
import { ChannelSettingsBuilder } from './channels/channel-settings.js';
import { ChannelService } from './channels/channel-service.js';
import { CHANNEL_KIND_NAMES } from './channels/channel-kinds.js';
import { buildChannelRoutes } from './http/routes.js';
import { StoredMailQueue } from './mail-queue.js';
import { MIGRATIONS } from './migrations.js';
import type { StoredNotification } from './notes/stored-notification.js';
import { LISTENED_EVENTS } from './notes/topics.js';
import { buildIntegrationPages } from './pages/integration-pages.js';
import { buildNotificationPages } from './pages/notification-pages.js';
import { buildNotificationPanels } from './pages/dashboard-panels.js';
import { createChannelSearch } from './pages/channel-search.js';
import { DisabledChannelReporter, expireNotifications } from './sending/disabled-channels.js';
import { NotificationDispatcher } from './sending/notification-dispatcher.js';
import { EmailSender, type SmtpConfig } from './services/email-sender.js';
import { listEventReceivers } from './sending/event-receivers.js';
import { OutcomeRecorder } from './sending/outcome-recorder.js';
import { NotificationQueue } from './sending/notification-queue.js';
import { ReminderScheduler } from './sending/reminder-scheduler.js';
import { buildSenders } from './services/senders.js';
import { TestMessageSender } from './sending/test-message.js';

const RETENTION_MS = 14 * DAY_MS;

interface NotificationsConfig extends SmtpConfig {
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

const buildTextOption = (description: string): joi.StringSchema =>
  joi.string().allow('').default('').description(description);

const config = joi.object({
  smtp_host: buildTextOption('SMTP server; empty: e-mail is disabled'),
  smtp_port: joi.number().port().default(587).description('Its port'),
  smtp_security: joi
    .string()
    .valid('starttls', 'tls', 'none')
    .default('starttls')
    .description(
      '`starttls` (port 587), `tls` from the first byte (port 465), or `none` for a server in the internal network',
    ),
  smtp_user: buildTextOption('User name for that server; empty: no authentication'),
  smtp_password: buildTextOption('Its password'),
  smtp_from: joi.string().default('aos@localhost').description('Sender of e-mail'),
  egress_policy: joi
    .string()
    .valid('private-ok', 'public-only')
    .default('private-ok')
    .description('Allowed destinations of hooks, like `webhooks.egress_policy`'),
  allow_cidrs: joi
    .array()
    .items(joi.string().ip({ cidr: 'required' }))
    .default([])
    .description('Networks that `public-only` allows'),
});

export default definePlugin<NotificationsConfig>({
  id: 'notifications',
  version: '1.0.0',
  api: 1,
  title: 'Notifications',
  needs: [AUDIT.name, PROJECTS.name],
  uses: [WATCHDOG.name],
  provides: [MAIL_QUEUE.name],
  extends: [
    ALARM_RECEIVERS.point,
    CONFIG_KINDS.point,
    MAIL_QUEUES.point,
    PROJECT_CLEANUPS.point,
    SEARCH_PROVIDERS.point,
    ONBOARDING_STEPS.point,
  ],
  extensionPoints: [INTEGRATIONS.point],
  config,
  scopes: ['notifications:manage'],
  events: ['channel.disabled'],
  tags: { notifications: 'Channels that notify people, and their sent messages.' },
  migrations: MIGRATIONS,
  collections: [
    { name: 'channels', indexes: [{ fields: ['name'] }] },
    {
      name: 'mails',
      indexes: [
        { fields: ['state', 'rank'] },
        { fields: ['subject_id'] },
        { fields: ['recipient_id'] },
        { fields: ['created_at'] },
      ],
    },
    // For the first migration.
    { name: 'rules', indexes: [{ fields: ['channel_id'] }] },
    {
      name: 'notes',
      indexes: [
        { fields: ['channel_id', 'state'] },
        { fields: ['channel_id', 'open'] },
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
    const { timezone } = app;
    const rows = ctx.collection<Channel>('channels');
    const notes = ctx.collection<StoredNotification>('notes');
    const policy: EgressPolicy = { mode: set.egress_policy, allow: set.allow_cidrs };
    const senders = buildSenders({ smtp: set, outbound, policy, version: app.version, clock });
    const mailSender = set.smtp_host === '' ? null : new EmailSender(set);
    const mails = new StoredMailQueue(ctx.collection('mails'), mailSender, cipher, clock, log);
    const kinds = CHANNEL_KIND_NAMES.filter((kind) => kind in senders);
    const baseUrl = (): string => app.base_url;
    const settings = new ChannelSettingsBuilder({ cipher, outbound, policy, kinds, timezone });
    const directory = new ChannelCache(rows, clock);
    const outcomes = new OutcomeRecorder({ notes, channels: rows, cipher, clock, ids, log });
    const disabled = new DisabledChannelReporter({ channels: rows, directory, emit: ctx.emit.bind(ctx), log });
    const dispatcher = new NotificationDispatcher({
      notes,
      channels: rows,
      senders,
      outcomes,
      open: (channel) => settings.decryptDestination(channel),
      disabled: (channel) => disabled.emitDisabled(channel),
      clock,
      ids,
      log,
      baseUrl,
      timezone,
    });
    const wake = (id: string): void => dispatcher.wake([id]);
    const audit = ctx.resolve(AUDIT);
    const channels = new ChannelService({ channels: rows, directory, settings, notes, clock, ids, audit, wake });
    const findProjectName = async (slug: string): Promise<string | null> =>
      (await ctx.resolve(PROJECTS).get(slug))?.name ?? null;
    const queue = new NotificationQueue(notes, rows, directory, clock, timezone, findProjectName);
    const isOpen = async (source: string, fault: string): Promise<boolean> => {
      const watchdog = ctx.find(WATCHDOG);
      if (watchdog === undefined) return true;
      const monitor = await watchdog.find(source);
      return (
        monitor?.alarm === 'open' &&
        monitor.maintenance === null &&
        monitor.silence === null &&
        fault === `alarm:${monitor.alarm_id}`
      );
    };
    const reminders = new ReminderScheduler({ notes, channels: rows, clock, isOpen });
    const tests = new TestMessageSender(dispatcher, clock, (id) => channels.recordTest(id));
    const projects = async (): Promise<{ value: string; label: string }[]> =>
      (await ctx.resolve(PROJECTS).list()).map(({ slug, name }) => ({ value: slug, label: name }));
    return {
      services: { [MAIL_QUEUE.name]: mails },
      routes: buildChannelRoutes({ channels, tests, reader: outcomes }),
      pages: [
        ...buildIntegrationPages({ channels, kinds, providers: () => ctx.extensions(INTEGRATIONS) }),
        ...buildNotificationPages({ channels, tests, clock, reader: outcomes, kinds, timezone, projects }),
      ],
      panels: buildNotificationPanels(channels, clock),
      extensions: [
        extend(ALARM_RECEIVERS, {
          listReceivers: ({ id }) => listEventReceivers(notes, rows, id),
          forwardAcknowledgement: async (word) => dispatcher.wake(await queue.enqueueAcknowledgement(word)),
        }),
        extend(PROJECT_CLEANUPS, { clear: (project) => channels.removeProject(project) }),
        extend(SEARCH_PROVIDERS, createChannelSearch(channels)),
        extend(CONFIG_KINDS, createChannelKind(channels)),
        extend(MAIL_QUEUES, mails),
        extend(ONBOARDING_STEPS, {
          id: 'channel',
          order: 70,
          title: 'Set up alerts',
          text: 'Get alerts by e-mail, Slack, Teams or ntfy.',
          page: { label: 'New channel', href: '/notifications/new' },
          // Ticked by a delivery: a channel alone alerts no one.
          isDone: async () => (await rows.find({ filter: { last_sent_at: { gt: '' } }, limit: 1 })).items.length > 0,
          command: null,
          token: null,
        }),
      ],
      listens: LISTENED_EVENTS.map((event) => ({
        event,
        durable: true,
        handle: async (occurred) => dispatcher.wake(await queue.enqueueEvent(occurred)),
      })),
      jobs: [
        {
          name: 'send',
          everyMs: 30_000,
          run: async () => {
            await disabled.reconcile();
            dispatcher.wake(await reminders.enqueueDue());
            await dispatcher.wakeDue();
            mails.wake();
          },
        },
        {
          name: 'forget',
          everyMs: 3_600_000,
          removesByAge: true,
          run: async () => {
            await expireNotifications(notes, rows, clock);
            await mails.removeExpired();
            await notes.remove({
              at: { lt: toIsoString(clock.now() - RETENTION_MS) },
              state: { in: ['sent', 'failed', 'damped', 'expired'] },
            });
          },
        },
      ],
      health: async () => {
        const all = await channels.list();
        const off = all.filter((one) => one.disabled_reason !== null).length;
        const failing = all.filter((one) => one.enabled && one.failing_since !== null).length;
        const waiting = await notes.count({ state: 'waiting' });
        return { ok: off === 0, channels_disabled: off, channels_failing: failing, waiting };
      },
      stop: async () => {
        await Promise.all([dispatcher.stop(), mails.stop()]);
      },
    };
  },
});
