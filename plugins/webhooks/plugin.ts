/** Every event of every plugin is stored here before its producer removes it (contract 70). */
import joi from 'joi';
import { definePlugin, extend, type PluginContext } from '../../kernel/contract/index.js';
import { AUDIT_TARGETS, AUDIT } from '../../ports/domain/audit.js';
import { PROJECT_CLEANUPS, PROJECTS } from '../../ports/domain/projects.js';
import { ALARM_RECEIVERS } from '../../ports/domain/alarms/receivers.js';
import { SYSTEM } from '../../ports/domain/system.js';
import { ATTEMPT_DATA, WEBHOOK_DISABLED, WEBHOOK_RECEIVERS } from '../../ports/domain/webhooks.js';
import { LIVE_TOPICS } from '../../ports/domain/live-topics.js';
import { INTEGRATIONS } from '../../ports/domain/alarms/integrations.js';
import { createWebhookIntegration } from './pages/webhook-integration.js';
import { ONBOARDING_STEPS } from '../../ports/domain/dashboard.js';
import { SEARCH_PROVIDERS } from '../../ports/domain/search.js';
import { createWebhookProjectCleanup } from './administration/project-cleanup.js';
import { CONFIG_KINDS } from '../../ports/domain/config/kinds.js';
import { createWebhookKind } from './administration/webhook-config-kind.js';
import type { WebhookDeps, WebhooksConfig } from './deps.js';
import { listDeliveriesForEvent } from './deliveries/event-deliveries.js';
import { TEST_EVENT } from './model/event-names.js';
import { buildWebhookPages, buildWebhookPanels } from './pages/webhook-pages.js';
import { buildApiRoutes } from './http/webhook-routes.js';
import { buildServices } from './services.js';
import { buildWebhookTopics } from './pages/live-topics.js';
import { createWebhookSearch } from './pages/webhook-search.js';

const config = joi.object({
  egress_policy: joi
    .string()
    .valid('private-ok', 'public-only')
    .default('private-ok')
    .description(
      'Allowed destinations of deliveries: `private-ok` also allows the internal network, `public-only` only public addresses. Link-local and metadata addresses are never allowed',
    ),
  allow_cidrs: joi
    .array()
    .items(joi.string().ip({ cidr: 'required' }))
    .default([])
    .description('Networks that `public-only` allows, except those that are always blocked'),
});

function buildDeps(ctx: PluginContext<WebhooksConfig>): WebhookDeps {
  const { clock, ids, log, app } = ctx;
  const { cipher, outbound, metrics } = ctx.ports;
  return {
    webhooks: ctx.collection('webhooks'),
    events: ctx.collection('events'),
    deliveries: ctx.collection('deliveries'),
    clock,
    ids,
    log,
    emit: (event, data, options) => ctx.emit(event, data, options),
    cipher,
    outbound,
    metrics,
    audit: ctx.resolve(AUDIT),
    projects: ctx.resolve(PROJECTS),
    attemptData: () => ctx.extensions(ATTEMPT_DATA),
    policy: { mode: ctx.config.egress_policy, allow: ctx.config.allow_cidrs },
    registered: () => ctx.resolve(SYSTEM).listEvents(),
    webhook_key: app.webhook_key,
    version: app.version,
    baseUrl: () => app.base_url,
    random: Math.random,
  };
}

export default definePlugin<WebhooksConfig>({
  id: 'webhooks',
  version: '1.0.0',
  api: 1,
  title: 'Events and webhooks',
  needs: [SYSTEM.name, AUDIT.name, PROJECTS.name],
  provides: [WEBHOOK_RECEIVERS.name],
  extensionPoints: [ATTEMPT_DATA.point],
  extends: [
    PROJECT_CLEANUPS.point,
    SEARCH_PROVIDERS.point,
    LIVE_TOPICS.point,
    AUDIT_TARGETS.point,
    ALARM_RECEIVERS.point,
    ONBOARDING_STEPS.point,
    INTEGRATIONS.point,
    CONFIG_KINDS.point,
  ],
  config,
  scopes: ['webhooks:manage'],
  events: [TEST_EVENT, WEBHOOK_DISABLED.event],
  tags: { webhooks: 'Receivers of events, their deliveries, and the event log.' },
  collections: [
    { name: 'webhooks', indexes: [{ fields: ['enabled'] }, { fields: ['disabled_at'] }, { fields: ['project_slug'] }] },
    {
      name: 'events',
      indexes: [
        { fields: ['timestamp'] },
        { fields: ['event', 'timestamp'] },
        { fields: ['project_slug', 'timestamp'] },
        { fields: ['stored_at'] },
        { fields: ['fan_at'] },
      ],
    },
    {
      name: 'deliveries',
      indexes: [
        // Each index slows down every delivery; ids are ordered by age (delivery.ts).
        { fields: ['webhook_id'] },
        { fields: ['webhook_id', 'next_at'] },
        { fields: ['webhook_id', 'state'] },
        { fields: ['state'] },
        { fields: ['lease_by'] },
        { fields: ['webhook_id', 'attempted_at'] },
      ],
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const deps = buildDeps(ctx);
    const services = buildServices(ctx, deps);
    const { registry, log, fanout, workers, pause, poller } = services;
    const { metrics } = ctx.ports;
    metrics.gauge('aos_webhook_queued', 'Deliveries waiting for an attempt', () => log.countQueued());
    metrics.gauge('aos_webhook_queue_age_seconds', 'Age of the oldest waiting delivery', () =>
      log.getOldestAgeSeconds(),
    );
    const reconcile = async (): Promise<void> => {
      for (const { id } of await pause.reconcile()) workers.wake(id);
    };
    return {
      routes: buildApiRoutes(services),
      pages: buildWebhookPages({ ...services, clock: ctx.clock }),
      panels: buildWebhookPanels(registry),
      services: { [WEBHOOK_RECEIVERS.name]: services.directory },
      extensions: [
        extend(PROJECT_CLEANUPS, createWebhookProjectCleanup(deps, services.directory)),
        extend(SEARCH_PROVIDERS, createWebhookSearch(registry)),
        extend(CONFIG_KINDS, createWebhookKind(registry)),
        extend(INTEGRATIONS, createWebhookIntegration(deps)),
        extend(ONBOARDING_STEPS, {
          id: 'channel',
          order: 80,
          title: 'Set up alerts',
          text: 'Get alerts by e-mail, Slack, Teams or ntfy.',
          page: { label: 'New webhook', href: '/webhooks/new' },
          // Ticked by a delivery: a webhook alone alerts no one.
          isDone: async () => (await deps.deliveries.find({ filter: { state: 'success' }, limit: 1 })).items.length > 0,
          command: null,
          token: null,
        }),
        extend(ALARM_RECEIVERS, { listReceivers: (event) => listDeliveriesForEvent(deps, event) }),
        ...buildWebhookTopics(deps, services).map((topic) => extend(LIVE_TOPICS, topic)),
        extend(AUDIT_TARGETS, {
          noun: 'webhook',
          describe: async (id) => {
            const found = await deps.webhooks.get(id);
            return found && { name: found.name, href: `/webhooks/${id}` };
          },
        }),
      ],
      listens: [{ event: '*', durable: true, handle: (event) => fanout.store(event) }],
      jobs: [
        { name: 'reconcile', everyMs: 30_000, run: reconcile },
        {
          name: 'forget',
          everyMs: 3_600_000,
          timeoutMs: 600_000,
          removesByAge: true,
          run: async ({ signal }) => {
            await pause.expire();
            await log.removeExpired(signal);
          },
        },
      ],
      health: () => log.getHealth(),
      start: async () => {
        await reconcile();
        workers.start();
        poller.start();
      },
      stop: async () => {
        await Promise.all([poller.stop(), workers.stop()]);
        await fanout.waitUntilIdle();
      },
    };
  },
});
