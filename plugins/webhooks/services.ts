import type { Instances, PluginContext } from '../../kernel/contract.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { DeliveryWorkers } from './deliveries/delivery-workers.js';
import { DeliveryLog } from './deliveries/log.js';
import { DEPS, type WebhookDeps } from './deps.js';
import { Fanout } from './deliveries/fanout.js';
import { Poller } from './deliveries/poller.js';
import { WebhookDirectory } from './registry/directory.js';
import { WebhookPause } from './registry/webhook-pause.js';
import { WebhookChoices } from './administration/webhook-choices.js';
import { Webhooks } from './administration/webhooks.js';

const SERVICES = {
  directory: WebhookDirectory,
  registry: Webhooks,
  choices: WebhookChoices,
  log: DeliveryLog,
  fanout: Fanout,
  queue: DeliveryQueue,
  workers: DeliveryWorkers,
  pause: WebhookPause,
  poller: Poller,
};

export type WebhookServices = Instances<typeof SERVICES>;

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: WebhookDeps): WebhookServices {
  scope.bind(DEPS, deps);
  return scope.services(SERVICES);
}
