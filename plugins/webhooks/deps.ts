/** What the services of this plugin are built on, and the names by which they find each other. */
import type { Clock, Collection, Ids, Logger } from '../../kernel/contract.js';
import type { Cipher } from '../../ports/cipher.js';
import type { AuditLog } from '../../ports/domain/access.js';
import type { ProjectDirectory } from '../../ports/domain/projects.js';
import type { Metrics } from '../../ports/metrics.js';
import type { EgressPolicy, Outbound } from '../../ports/outbound.js';
import type { Delivery } from './deliveries/delivery.js';
import type { StoredEvent } from './events/event.js';
import type { Webhook } from './registry/webhook.js';

export interface WebhooksConfig {
  egress_policy: EgressPolicy['mode'];
  allow_cidrs: string[];
}

export interface Deps {
  webhooks: Collection<Webhook>;
  events: Collection<StoredEvent>;
  deliveries: Collection<Delivery>;
  clock: Clock;
  ids: Ids;
  log: Logger;
  cipher: Cipher;
  outbound: Outbound;
  metrics: Metrics;
  audit: AuditLog;
  projects: ProjectDirectory;
  policy: EgressPolicy;
  /** Names of the events of all plugins. */
  registered: () => readonly string[];
  /** `security.webhook_key`; empty: there is none. */
  webhook_key: string;
  version: string;
  /** 0 ≤ x < 1 */
  random: () => number;
}

export const DEPS = 'webhooks.deps';
export const SECRETS = 'webhooks.secrets';
export const SENDER = 'webhooks.sender';
export const PAUSE = 'webhooks.pause';
export const OUTCOMES = 'webhooks.outcomes';
export const DIRECTORY = 'webhooks.directory';
export const LEASES = 'webhooks.leases';
export const QUEUE = 'webhooks.queue';
export const POLLER = 'webhooks.poller';
export const WRITER = 'webhooks.writer';
export const WORKERS = 'webhooks.workers';
export const FANOUT = 'webhooks.fanout';
export const REGISTRY = 'webhooks.registry';
export const LOG = 'webhooks.log';

export const isoOf = (ms: number): string => new Date(ms).toISOString();
