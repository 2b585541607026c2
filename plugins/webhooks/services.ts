import { bindAll, type Instances, type PluginContext } from '../../kernel/contract/index.js';
import { DeliveryQueue } from './deliveries/delivery-queue.js';
import { DeliveryWorkerPool } from './deliveries/delivery-workers.js';
import { DeliveryLog } from './deliveries/delivery-log.js';
import { DEPS, type WebhookDeps } from './deps.js';
import { EventFanout } from './deliveries/event-fanout.js';
import { DeliveryPoller } from './deliveries/delivery-poller.js';
import { WebhookCache } from './registry/webhook-cache.js';
import { WebhookPauseService } from './registry/webhook-pause.js';
import { WebhookFieldValidator } from './administration/webhook-field-validator.js';
import { WebhookService } from './administration/webhook-service.js';

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
  bindAll(scope, DEPS, deps);
  return scope.services(SERVICE_CLASSES);
}
