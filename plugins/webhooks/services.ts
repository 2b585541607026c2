import type { Instances, PluginContext } from '../../kernel/contract.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { DeliveryWorkerPool } from './deliveries/delivery-workers.js';
import { DeliveryLog } from './deliveries/log.js';
import { DEPS, type WebhookDeps } from './deps.js';
import { EventFanout } from './deliveries/fanout.js';
import { DeliveryPoller } from './deliveries/poller.js';
import { WebhookCache } from './registry/directory.js';
import { WebhookPauseService } from './registry/webhook-pause.js';
import { WebhookFieldValidator } from './administration/webhook-choices.js';
import { WebhookService } from './administration/webhooks.js';

const SERVICE_CLASSES = {
  directory: WebhookCache,
  registry: WebhookService,
  choices: WebhookFieldValidator,
  log: DeliveryLog,
  fanout: EventFanout,
  queue: DeliveryQueue,
  workers: DeliveryWorkerPool,
  pause: WebhookPauseService,
  poller: DeliveryPoller,
};

export type WebhookServices = Instances<typeof SERVICE_CLASSES>;

export function buildServices(scope: Pick<PluginContext, 'bind' | 'services'>, deps: WebhookDeps): WebhookServices {
  scope.bind(DEPS, deps);
  return scope.services(SERVICE_CLASSES);
}
