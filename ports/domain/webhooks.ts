/**
 * Webhooks: disabled receivers, and data that plugins add to deliveries (contract 70, delivery).
 */
import type { DomainEvent } from '../events.js';
import { event, extensionPoint, token } from '../token.js';

/** Data of `webhook.disabled`: twenty consecutive deliveries failed. */
export interface WebhookDisabled {
  id: string;
  name: string;
  reason: string;
}

export const WEBHOOK_DISABLED = event<WebhookDisabled>('webhook.disabled');

/**
 * Adds data to each delivery attempt that is never stored, so that late attempts carry fresh
 * credentials.
 */
export interface AttemptDataProvider {
  /** Event name. Only webhooks that list it get the data; `*` does not match. */
  event: string;
  /**
   * Scopes that the data grants. Creating, changing or redelivering such a webhook requires all of
   * them, or an administrator.
   */
  scopes: readonly string[];
  /**
   * Builds members to merge into `data`. Its secrets are removed from the stored response. Throwing
   * fails the attempt, which is retried.
   * @param webhook id of the receiving webhook
   */
  buildData(
    event: DomainEvent,
    webhook: string,
  ): Promise<{ data: Readonly<Record<string, string>>; secrets: readonly string[] }>;
}

export const ATTEMPT_DATA = extensionPoint<AttemptDataProvider>('webhooks.attempt_data');

/** Looks up webhooks whose data holds secrets. */
export interface WebhookReceivers {
  /**
   * Returns whether this webhook exists, possibly disabled, and lists this event of this project by
   * name.
   */
  isReceiver(webhook: string, event: string, project: string): Promise<boolean>;
  /** Returns whether an enabled webhook lists this event of this project by name. */
  hasReceiver(event: string, project: string): Promise<boolean>;
}

export const WEBHOOK_RECEIVERS = token<WebhookReceivers>('webhooks.receivers');
