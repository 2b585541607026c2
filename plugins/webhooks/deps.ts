import {
  token,
  type TokenValues,
  type Clock,
  type Collection,
  type Ids,
  type Logger,
  type PluginContext,
} from '../../kernel/contract/index.js';
import type { Cipher } from '../../ports/cipher.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { AttemptDataProvider } from '../../ports/domain/webhooks.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Metrics } from '../../ports/metrics.js';
import type { EgressPolicy, Outbound } from '../../ports/outbound.js';
import type { WebhookDelivery } from './model/delivery.js';
import type { StoredEvent } from './model/stored-event.js';
import type { Webhook } from './model/webhook.js';

export interface WebhooksConfig {
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

export const DEPS = {
  webhooks: token<Collection<Webhook>>('webhooks:webhooks'),
  events: token<Collection<StoredEvent>>('webhooks:events'),
  deliveries: token<Collection<WebhookDelivery>>('webhooks:deliveries'),
  clock: token<Clock>('webhooks:clock'),
  ids: token<Ids>('webhooks:ids'),
  log: token<Logger>('webhooks:log'),
  emit: token<PluginContext['emit']>('webhooks:emit'),
  cipher: token<Cipher>('webhooks:cipher'),
  outbound: token<Outbound>('webhooks:outbound'),
  metrics: token<Metrics>('webhooks:metrics'),
  audit: token<AuditLog>('webhooks:audit'),
  projects: token<ProjectDirectory>('webhooks:projects'),
  attemptData: token<() => readonly AttemptDataProvider[]>('webhooks:attemptData'),
  policy: token<EgressPolicy>('webhooks:policy'),
  registered: token<() => readonly string[]>('webhooks:registered'),
  webhook_key: token<string>('webhooks:webhook_key'),
  version: token<string>('webhooks:version'),
  baseUrl: token<() => string>('webhooks:baseUrl'),
  /** 0 ≤ x < 1 */
  random: token<() => number>('webhooks:random'),
};

export type WebhookDeps = TokenValues<typeof DEPS>;
