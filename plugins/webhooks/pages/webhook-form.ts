import type joi from 'joi';
import { getFormFields, fromForm, type HttpRequest } from '../../../kernel/contract/index.js';
import { ALL_EVENTS } from '../model/event-names.js';
import type { WebhookFields } from '../model/webhook.js';

/** They take precedence over "all events". */
export function getChosenEvents(request: HttpRequest): unknown[] {
  const ticked = [getFormFields(request)['events'] ?? []].flat();
  const single = ticked.filter((name) => name !== ALL_EVENTS);
  return single.length > 0 ? single : ticked;
}

/**
 * An unticked box is false; an empty secret is generated.
 * @throws ServiceError validation_failed
 */
export function readWebhookForm(
  request: HttpRequest,
  schema: joi.ObjectSchema,
): WebhookFields & { name: string; url: string; events: string[] } {
  const form = getFormFields(request);
  const given = { ...form, events: getChosenEvents(request), enabled: form['enabled'] === 'true' };
  const secret = form['use_webhook_key'] === 'true' ? null : form['secret'] || undefined;
  return fromForm(schema, { ...given, secret }) as ReturnType<typeof readWebhookForm>;
}
