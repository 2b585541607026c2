import joi from 'joi';
import { formatOutboundFault } from '../../../lib/http/outbound-fault.js';
import { Redirect, type Clock } from '../../../kernel/contract/index.js';
import type { DeliveryState } from '../model/delivery.js';
import type { DeliveryLog } from '../deliveries/delivery-log.js';
import { ALL_EVENTS } from '../model/event-names.js';
import type { WebhookFieldValidator } from '../administration/webhook-field-validator.js';
import type { WebhookService } from '../administration/webhook-service.js';
import { getUrlHost, type Webhook, type WebhookView } from '../model/webhook.js';

export const readAccess = { session: 'member' } as const;
export const writeAccess = { session: 'admin' } as const;
export const title = 'Webhooks';
export const crumb = { label: title, href: '/webhooks' };
export const uuidSchema = joi.string().guid().required();
export const params = joi.object({ id: uuidSchema });
export const cursor = joi.string().max(4096);
export const PAGE_SIZE = 50;

export const redirectToWebhook = ({ id }: Pick<Webhook, 'id'>, message: string): Redirect =>
  new Redirect(`/webhooks/${id}`, { tone: 'success', message });

const STATE_TONES: Readonly<Record<DeliveryState, string>> = {
  pending: 'accent',
  success: 'success',
  retrying: 'warning',
  exhausted: 'danger',
  held: 'neutral',
  blocked: 'danger',
  expired: 'danger',
};

export const addTone = <T extends { state: string }>(delivery: T): T & { tone: string } => ({
  ...delivery,
  tone: STATE_TONES[delivery.state as DeliveryState],
});

export function toWebhookStateView(webhook: WebhookView): object {
  const { enabled, disabled_at, failure_count, last_delivery } = webhook;
  const broken = !enabled && disabled_at !== null;
  const [state, tone] = broken
    ? ['disabled itself', 'danger']
    : !enabled
      ? ['disabled', 'neutral']
      : failure_count > 0
        ? ['failing', 'warning']
        : ['enabled', 'success'];
  const last = last_delivery && {
    ...addTone(last_delivery),
    error: last_delivery.error && formatOutboundFault(last_delivery.error),
    again: canResend(last_delivery.state, last_delivery.error),
  };
  const names = webhook.events.split(',');
  const subscribed = names.includes(ALL_EVENTS) ? 'all events' : names.join(', ');
  const disabled_reason = webhook.disabled_reason && formatOutboundFault(webhook.disabled_reason);
  return { ...webhook, disabled_reason, host: getUrlHost(webhook.url), names, subscribed, broken, state, tone, last };
}

/** Without the prefix of its kind, as pages show it. */
export const toPlainFault = <T extends { error: string | null }>(attempt: T): T =>
  attempt.error === null ? attempt : { ...attempt, error: formatOutboundFault(attempt.error) };

export const canResend = (state: string, error: string | null): boolean =>
  error !== null && state !== 'retrying' && state !== 'pending';

export interface WebhookPageParts {
  clock: Pick<Clock, 'now'>;
  registry: WebhookService;
  choices: WebhookFieldValidator;
  log: DeliveryLog;
}

export const formatJson = (json: string): string => JSON.stringify(JSON.parse(json), null, 2);
