/**
 * Events and webhooks (contract 70): the event log, deliveries with retries and signatures, and their administration.
 * Every event of every plugin is stored here before its producer forgets it.
 */
import joi from 'joi';
import { definePlugin, type PluginContext } from '../../kernel/contract.js';
import { AUDIT } from '../../ports/domain/access.js';
import { PROJECTS } from '../../ports/domain/projects.js';
import { SYSTEM } from '../../ports/domain/system.js';
import {
  DEPS,
  DIRECTORY,
  FANOUT,
  PAUSE,
  WORKERS,
  LEASES,
  WRITER,
  LOG,
  OUTCOMES,
  POLLER,
  QUEUE,
  REGISTRY,
  SECRETS,
  SENDER,
} from './deps.js';
import type { Deps, WebhooksConfig } from './deps.js';
import { Directory } from './registry/directory.js';
import { Fanout } from './events/fanout.js';
import { Poller } from './poller.js';
import { WebhookPause } from './registry/webhook-pause.js';
import { DeliveryWorkers } from './deliveries/delivery-workers.js';
import { Leases } from './deliveries/leases.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { DeliveryWriter } from './deliveries/delivery-writer.js';
import { DeliveryLog } from './deliveries/log.js';
import { TEST_EVENT } from './events/names.js';
import { Outcomes } from './deliveries/outcomes.js';
import { pages, panels } from './pages/pages.js';
import { Webhooks } from './registry/webhooks.js';
import { routes } from './http/routes.js';
import { Secrets } from './registry/secrets.js';
import { Sender } from './sending/sender.js';

const config = joi.object({
  egress_policy: joi
    .string()
    .valid('private-ok', 'public-only')
    .default('private-ok')
    .description(
      'Where deliveries may go: `private-ok` also inside the own network, `public-only` to public addresses only. Link-local and metadata addresses are never allowed',
    ),
  allow_cidrs: joi
    .array()
    .items(joi.string().ip({ cidr: 'required' }))
    .default([])
    .description('Networks that `public-only` lets pass; never opens what is always blocked'),
});

export interface Services {
  registry: Webhooks;
  log: DeliveryLog;
  fanout: Fanout;
  queue: DeliveryQueue;
  workers: DeliveryWorkers;
  pause: WebhookPause;
  poller: Poller;
}

/** Builds the services, each from what the ones before it offer. @param scope the plugin's own container */
export function buildServices(scope: Pick<PluginContext, 'bind' | 'construct'>, deps: Deps): Services {
  const make = <T>(name: string, type: new (...args: never[]) => T): T => {
    const service = scope.construct(type);
    scope.bind(name, service);
    return service;
  };
  scope.bind(DEPS, deps);
  make(SECRETS, Secrets);
  make(SENDER, Sender);
  make(DIRECTORY, Directory);
  const pause = make(PAUSE, WebhookPause);
  make(WRITER, DeliveryWriter);
  make(LEASES, Leases);
  const queue = make(QUEUE, DeliveryQueue);
  make(OUTCOMES, Outcomes);
  const log = make(LOG, DeliveryLog);
  const workers = make(WORKERS, DeliveryWorkers);
  const fanout = make(FANOUT, Fanout);
  const poller = make(POLLER, Poller);
  return { pause, log, queue, workers, fanout, poller, registry: make(REGISTRY, Webhooks) };
}

function depsOf(ctx: PluginContext<WebhooksConfig>): Deps {
  const { clock, ids, log, app } = ctx;
  const { cipher, outbound, metrics } = ctx.ports;
  return {
    webhooks: ctx.collection('webhooks'),
    events: ctx.collection('events'),
    deliveries: ctx.collection('deliveries'),
    clock,
    ids,
    log,
    cipher,
    outbound,
    metrics,
    audit: ctx.resolve(AUDIT),
    projects: ctx.resolve(PROJECTS),
    policy: { mode: ctx.config.egress_policy, allow: ctx.config.allow_cidrs },
    registered: () => ctx.resolve(SYSTEM).events(),
    webhook_key: app.webhook_key,
    version: app.version,
    random: Math.random,
  };
}

export default definePlugin<WebhooksConfig>({
  id: 'webhooks',
  version: '1.0.0',
  api: 1,
  title: 'Events and webhooks',
  needs: [SYSTEM.name, AUDIT.name, PROJECTS.name],
  config,
  scopes: ['webhooks:manage'],
  events: [TEST_EVENT],
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
        // Each costs every delivery a tenth of its write; age is the order of the ids (delivery.ts).
        { fields: ['webhook_id'] },
        { fields: ['webhook_id', 'next_at'] },
        { fields: ['webhook_id', 'state'] },
        { fields: ['state'] },
        { fields: ['lease_by'] },
      ],
    },
  ],
  from: import.meta.url,
  setup(ctx) {
    const services = buildServices(ctx, depsOf(ctx));
    const { registry, log, fanout, workers, pause, poller } = services;
    const reconcile = async (): Promise<void> => {
      for (const { id } of await pause.reconcile()) workers.wake(id);
    };
    return {
      routes: routes(services),
      pages: pages(services),
      panels: panels(registry),
      listens: [{ event: '*', durable: true, handle: (event) => fanout.store(event) }],
      jobs: [
        { name: 'reconcile', everyMs: 10_000, run: reconcile },
        {
          name: 'forget',
          everyMs: 3_600_000,
          timeoutMs: 600_000,
          run: async ({ signal }) => {
            await pause.expire();
            await log.forget(signal);
          },
        },
      ],
      health: () => log.health(workers.unstored),
      start: async () => {
        const queued = async (): Promise<number> => (await log.queued()) + workers.unstored;
        ctx.ports.metrics.gauge('aos_webhook_queued', 'Deliveries that wait for an attempt', queued);
        await reconcile();
        workers.start();
        poller.start();
      },
      stop: async () => {
        await Promise.all([poller.stop(), workers.stop()]);
        await fanout.settled();
      },
    };
  },
});
