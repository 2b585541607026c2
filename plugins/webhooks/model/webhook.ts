import joi from 'joi';
import { withSchemaName, hideFromOpenApi, type Doc } from '../../../kernel/contract/index.js';
import type { DomainEvent } from '../../../ports/events.js';
import type { WebhookDelivery } from './delivery.js';
import { ALL_EVENTS, EXPLICIT_EVENTS, TEST_EVENT } from './event-names.js';

export const MAX_CONSECUTIVE_FAILURES = 20;
export const SECRET_ROTATION_MS = 24 * 3_600_000;

export interface Webhook extends Doc {
  name: string;
  url: string;
  /** Null for all projects, and events without one. */
  project_slug: string | null;
  events: string[];
  enabled: boolean;
  /** Encrypted; null when `security.webhook_key` signs. */
  secret: string | null;
  previous: { secret: string; until: string } | null;
  failures: number;
  disabled_reason: string | null;
  disabled_at: string | null;
  /** Of a `webhook.disabled` event not published yet. */
  disabled_event?: string;
  /** Until enabling has released all held deliveries. */
  resuming: boolean;
  /** Created by an apply. */
  managed?: true;
  created_by: string;
  created_at: string;
  updated_at: string;
}

export interface WebhookFields {
  name?: string;
  url?: string;
  project_slug?: string | null;
  events?: string | string[];
  secret?: string | null;
  enabled?: boolean;
  managed?: true;
}

export function isSubscribedTo(webhook: Webhook, event: Pick<DomainEvent, 'event' | 'project_slug'>): boolean {
  if (!webhook.enabled || event.event === TEST_EVENT) return false;
  if (webhook.project_slug !== null && webhook.project_slug !== event.project_slug) return false;
  if (webhook.events.includes(event.event)) return true;
  return webhook.events.includes(ALL_EVENTS) && !EXPLICIT_EVENTS.has(event.event);
}

/** The path may contain a secret. */
export const getUrlHost = (url: string): string => (URL.canParse(url) ? new URL(url).host : '');

const buildTextSchema = (max: number) =>
  joi
    .string()
    .trim()
    .max(max)
    .pattern(/\p{Cc}/u, { invert: true, name: 'free of control characters' });

const fields = {
  name: buildTextSchema(200).description('What it is for'),
  url: buildTextSchema(2000).description('Destination of deliveries: http or https, without user name and password'),
  project_slug: joi.string().max(64).allow(null, '').description('Only events of this project; empty for all projects'),
  events: joi
    .alternatives(joi.string().max(2000), hideFromOpenApi(joi.array().items(joi.string().max(100)).max(200)))
    .description('Names of events separated by commas, or `*`; a list of names is also accepted'),
  secret: joi
    .string()
    .min(8)
    .max(256)
    .allow(null)
    .description(
      'Signs the deliveries. If omitted on creation, one is generated. null to sign with `security.webhook_key`',
    ),
  enabled: joi.boolean(),
};

export const createBody = withSchemaName(
  'WebhookCreation',
  joi
    .object({
      ...fields,
      name: fields.name.required(),
      url: fields.url.required(),
      events: fields.events.required(),
    })
    .example({ name: 'Chat', url: 'https://chat.example.com/hooks/aos', events: 'bug.created,monitor.down' }),
);
export const changeBody = withSchemaName('WebhookChange', joi.object(fields));

export interface LastDelivery {
  id: string;
  event: string;
  state: string;
  at: string;
  status_code: number | null;
  error: string | null;
}

export interface WebhookView {
  id: string;
  name: string;
  url: string;
  project_slug: string | null;
  events: string;
  enabled: boolean;
  has_secret: boolean;
  previous_secret_until: string | null;
  failure_count: number;
  disabled_reason: string | null;
  disabled_at: string | null;
  last_delivery: LastDelivery | null;
  managed?: true;
  created_by: string;
  created_at: string;
  updated_at: string;
}

/**
 * @param last the most recently attempted delivery
 * @param now RFC 3339
 */
export function toWebhookView(webhook: Webhook, last: WebhookDelivery | null, now: string): WebhookView {
  const { previous } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    project_slug: webhook.project_slug,
    events: webhook.events.join(','),
    enabled: webhook.enabled,
    has_secret: webhook.secret !== null,
    previous_secret_until: previous !== null && previous.until > now ? previous.until : null,
    failure_count: webhook.failures,
    disabled_reason: webhook.disabled_reason,
    disabled_at: webhook.disabled_at,
    last_delivery: last && toLastDelivery(last),
    ...(webhook.managed && { managed: webhook.managed }),
    created_by: webhook.created_by,
    created_at: webhook.created_at,
    updated_at: webhook.updated_at,
  };
}

function toLastDelivery(delivery: WebhookDelivery): LastDelivery | null {
  const attempt = delivery.attempts.at(-1);
  if (attempt === undefined) return null;
  const { at, status_code, error } = attempt;
  return { id: delivery.id, event: delivery.event, state: delivery.state, at, status_code, error };
}
