/** Webhooks (contract 70, delivery). */
import type { DomainEvent } from '../events.js';
import { event, extensionPoint, token } from '../token.js';

/** Data of `webhook.disabled`: twenty consecutive deliveries failed. */
export interface WebhookDisabled {
  id: string;
  name: string;
  reason: string;
}

export const WEBHOOK_DISABLED = event<WebhookDisabled>('webhook.disabled');

/** Adds data to each delivery attempt that is never stored, so that credentials are fresh. */
export interface AttemptDataProvider {
  /** `*` does not match. */
  event: string;
  /** Changing or redelivering such a webhook requires all of them, or an administrator. */
  scopes: readonly string[];
  /**
   * Merged into `data`; its secrets are removed from the stored response. Throwing fails the
   * attempt, which is retried.
   */
  buildData(
    event: DomainEvent,
    webhook: string,
  ): Promise<{ data: Readonly<Record<string, string>>; secrets: readonly string[] }>;
}

export const ATTEMPT_DATA = extensionPoint<AttemptDataProvider>('webhooks.attempt_data');

/** Looks up webhooks whose data holds secrets. */
export interface WebhookReceivers {
  /** Possibly disabled; the event must be listed by name. */
  isReceiver(webhook: string, event: string, project: string): Promise<boolean>;
  /** Enabled; the event must be listed by name. */
  hasReceiver(event: string, project: string): Promise<boolean>;
}

export const WEBHOOK_RECEIVERS = token<WebhookReceivers>('webhooks.receivers');
