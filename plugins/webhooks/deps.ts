/** What the services of this plugin are built on; bound as one value, so that a test puts its own in its place. */
import {
  token,
  type Clock,
  type Collection,
  type Ids,
  type Logger,
  type PluginContext,
} from '../../kernel/contract.js';
import type { Cipher } from '../../ports/cipher.js';
import type { AuditLog } from '../../ports/domain/audit.js';
import type { AttemptData } from '../../ports/domain/webhooks.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Metrics } from '../../ports/metrics.js';
import type { EgressPolicy, Outbound } from '../../ports/outbound.js';
import type { Delivery } from './model/delivery.js';
import type { StoredEvent } from './model/event.js';
import type { Webhook } from './model/webhook.js';

export interface WebhooksConfig {
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

export interface WebhookDeps {
  webhooks: Collection<Webhook>;
  events: Collection<StoredEvent>;
  deliveries: Collection<Delivery>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  emit: PluginContext['emit'];
  cipher: Cipher;
  outbound: Outbound;
  metrics: Metrics;
  audit: AuditLog;
  projects: ProjectDirectory;
  /** What other plugins add to each attempt. */
  attemptData: () => readonly AttemptData[];
  policy: EgressPolicy;
  /** Names of the events of all plugins. */
  registered: () => readonly string[];
  /** `security.webhook_key`; empty: there is none. */
  webhook_key: string;
  version: string;
  /** `server.base_url`, known once the service listens. */
  baseUrl: () => string;
  /** 0 ≤ x < 1 */
  random: () => number;
}

export const DEPS = token<WebhookDeps>('webhooks.deps');
