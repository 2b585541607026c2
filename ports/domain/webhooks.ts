/** The webhooks plugin: receivers that cannot be reached, and what others add to deliveries (contract 70, delivery). */
import type { DomainEvent } from '../events.js';
import { event, extensionPoint } from '../token.js';

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
  /** The event's name. */
  event: string;
  /**
   * Members that join `data`. Secrets among them are taken out of what is kept of the answer. What it throws fails the
   * attempt, which is repeated.
   */
  made(event: DomainEvent): Promise<{ data: Readonly<Record<string, string>>; secrets: readonly string[] }>;
}

export const ATTEMPT_DATA = extensionPoint<AttemptData>('webhooks.attempt_data');
