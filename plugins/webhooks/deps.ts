import {
  token,
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

export interface WebhookDeps {
  webhooks: Collection<Webhook>;
  events: Collection<StoredEvent>;
  deliveries: Collection<WebhookDelivery>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  emit: PluginContext['emit'];
  cipher: Cipher;
  outbound: Outbound;
  metrics: Metrics;
  audit: AuditLog;
  projects: ProjectDirectory;
  attemptData: () => readonly AttemptDataProvider[];
  policy: EgressPolicy;
  registered: () => readonly string[];
  webhook_key: string;
  version: string;
  baseUrl: () => string;
  /** 0 ≤ x < 1 */
  random: () => number;
}

export const DEPS = token<WebhookDeps>('webhooks.deps');
