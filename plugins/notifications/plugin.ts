/**
 * Notifications by e-mail, chat, phone and on-call services. Webhooks send every event to programs
 * immediately. A channel sends selected events to people, with quiet hours and digests. Does
 * nothing without channels.
 */
import joi from 'joi';
import { definePlugin, extend } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/audit.js';
import { FIRST_STEPS } from '../../ports/domain/dashboard.js';
import { PROJECT_BELONGINGS, PROJECTS } from '../../ports/domain/projects.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { WATCHDOG } from '../../ports/domain/watchdog.js';
import { MAIL_QUEUE } from '../../ports/domain/mail/mail-queue.js';
import { ALARM_RECEIVERS } from '../../ports/domain/alarms/receivers.js';
import type { EgressPolicy } from '../../ports/outbound.js';
import { DAY_MS, isoOf } from '../../lib/time.js';
import type { Channel } from './channels/channel.js';
import { ChannelDirectory } from './channels/channel-directory.js';
import { ChannelSettings } from './channels/channel-settings.js';
import { Channels } from './channels/channels.js';
import { KIND_NAMES } from './channels/kinds.js';
import { routes } from './http/routes.js';
import { StoredMailQueue } from './mail/mail-queue.js';
import { MIGRATIONS } from './migrations.js';
import type { StoredNote } from './notes/stored-note.js';
import { LISTENED_EVENTS } from './notes/topics.js';
import { pages } from './pages/pages.js';
import { panels } from './pages/panels.js';
import { createChannelSearch } from './pages/search.js';
import { DisabledChannels, expireNotes } from './sending/disabled-channels.js';
import { Dispatcher } from './sending/dispatcher.js';
import { EmailSender, type SmtpConfig } from './services/email.js';
import { listEventReceivers } from './sending/event-receivers.js';
import { NoteOutcomes } from './sending/outcomes.js';
import { NoteQueue } from './sending/queue.js';
import { Reminders } from './sending/reminders.js';
import { buildSenders } from './services/senders.js';
import { TestMessages } from './sending/test-message.js';

const RETENTION_MS = 14 * DAY_MS;

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
  uses: [WATCHDOG.name],
  provides: [MAIL_QUEUE.name],
  extends: [ALARM_RECEIVERS.point, PROJECT_BELONGINGS.point, SEARCH_PROVIDERS.point, FIRST_STEPS.point],
  config,
  scopes: ['notifications:manage'],
  events: ['channel.disabled'],
  tags: { notifications: 'Channels that notify people, and what was sent to them.' },
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
    // Only read by the first migration.
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
    const notes = ctx.collection<StoredNote>('notes');
    const policy: EgressPolicy = { mode: set.egress_policy, allow: set.allow_cidrs };
    const senders = buildSenders({ smtp: set, outbound, policy, version: app.version, clock });
    const mailSender = set.smtp_host === '' ? null : new EmailSender(set);
    const mails = new StoredMailQueue(ctx.collection('mails'), mailSender, clock, log);
    const kinds = KIND_NAMES.filter((kind) => kind in senders);
    const baseUrl = (): string => app.base_url;
    const settings = new ChannelSettings({ cipher, outbound, policy, kinds, timezone });
    const directory = new ChannelDirectory(rows, clock);
    const outcomes = new NoteOutcomes({ notes, channels: rows, cipher, clock, ids, log });
    const disabled = new DisabledChannels({ channels: rows, directory, emit: ctx.emit.bind(ctx), log });
    const dispatcher = new Dispatcher({
      notes,
      channels: rows,
      senders,
      outcomes,
      open: (channel) => settings.open(channel),
      disabled: (channel) => disabled.announce(channel),
      clock,
      ids,
      log,
      baseUrl,
      timezone,
    });
    const wake = (id: string): void => dispatcher.wake([id]);
    const audit = ctx.resolve(AUDIT);
    const channels = new Channels({ channels: rows, directory, settings, notes, clock, ids, audit, wake });
    const queue = new NoteQueue(notes, rows, directory, clock, timezone);
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
    const reminders = new Reminders({ notes, channels: rows, clock, isOpen });
    const tests = new TestMessages(dispatcher, clock);
    const projects = async (): Promise<{ value: string; label: string }[]> =>
      (await ctx.resolve(PROJECTS).list()).map(({ slug, name }) => ({ value: slug, label: name }));
    return {
      services: { [MAIL_QUEUE.name]: mails },
      routes: routes({ channels, tests, reader: outcomes }),
      pages: pages({ channels, tests, reader: outcomes, kinds, timezone, projects }),
      panels: panels(channels, clock),
      extensions: [
        extend(ALARM_RECEIVERS, {
          told: ({ id }) => listEventReceivers(notes, rows, id),
          said: async (word) => dispatcher.wake(await queue.enqueueAlarmWord(word)),
        }),
        extend(PROJECT_BELONGINGS, { clear: (project) => channels.forgetProject(project) }),
        extend(SEARCH_PROVIDERS, createChannelSearch(channels)),
        extend(FIRST_STEPS, {
          id: 'channel',
          order: 70,
          title: 'Set up notifications',
          text: 'A channel notifies people by mail, chat or phone; a webhook notifies a program.',
          page: { label: 'New channel', href: '/notifications/new' },
          done: async () => (await rows.find({ limit: 1 })).items.length > 0,
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
            dispatcher.wake(await reminders.run());
            await dispatcher.wakeDue();
            mails.wake();
          },
        },
        {
          name: 'forget',
          everyMs: 3_600_000,
          removesByAge: true,
          run: async () => {
            await expireNotes(notes, rows, clock);
            await mails.forget();
            await notes.remove({
              at: { lt: isoOf(clock.now() - RETENTION_MS) },
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
