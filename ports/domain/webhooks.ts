/** The events of the webhooks plugin: a receiver can no longer be reached (contract 70, delivery). */
import { event } from '../token.js';

/** Data of `webhook.disabled`: twenty deliveries in a row have failed. */
export interface WebhookDisabled {
  id: string;
  name: string;
  reason: string;
}

export const WEBHOOK_DISABLED = event<WebhookDisabled>('webhook.disabled');
