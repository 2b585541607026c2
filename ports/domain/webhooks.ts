/** The webhooks plugin: receivers that cannot be reached, and what others add to deliveries (contract 70, delivery). */
import type { DomainEvent } from '../events.js';
import { event, extensionPoint, token } from '../token.js';

/** Data of `webhook.disabled`: twenty deliveries in a row have failed. */
export interface WebhookDisabled {
  id: string;
  name: string;
  reason: string;
}

export const WEBHOOK_DISABLED = event<WebhookDisabled>('webhook.disabled');

/**
 * What an attempt of a delivery brings beside the event's stored data, and is stored nowhere: made for each attempt, so
 * that a late one brings something that still works.
 */
export interface AttemptData {
  /** The event's name. A webhook gets the data only when it names the event; `*` does not bring it. */
  event: string;
  /**
   * The scopes of what the data opens. Creating, changing or redelivering such a webhook needs each of them, or an
   * administrator.
   */
  scopes: readonly string[];
  /**
   * Members that join `data`. Secrets among them are taken out of what is kept of the answer. What it throws fails the
   * attempt, which is repeated.
   * @param webhook the id of the webhook that gets it
   */
  made(
    event: DomainEvent,
    webhook: string,
  ): Promise<{ data: Readonly<Record<string, string>>; secrets: readonly string[] }>;
}

export const ATTEMPT_DATA = extensionPoint<AttemptData>('webhooks.attempt_data');

/** The webhooks, for those whose secrets are sent to them. */
export interface WebhookReceivers {
  /** Whether this webhook still exists and gets this event of this project by name. Disabled ones count. */
  receives(webhook: string, event: string, project: string): Promise<boolean>;
  /** Whether any enabled webhook gets this event of this project by name. */
  hasReceiver(event: string, project: string): Promise<boolean>;
}

export const WEBHOOK_RECEIVERS = token<WebhookReceivers>('webhooks.receivers');
