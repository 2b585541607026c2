/** Posted forms as the API's bodies, and the form again with what was wrong. */
import type joi from 'joi';
import { fromForm, type HttpRequest } from '../../../kernel/contract.js';
import type { WebhookFields } from '../registry/webhook.js';

export function typed(request: HttpRequest): Record<string, unknown> {
  return request.body !== null && typeof request.body === 'object' ? { ...request.body } : {};
}

export const chosenEvents = (request: HttpRequest): unknown[] => [typed(request)['events'] ?? []].flat();

/**
 * Check boxes are lists, an unticked one is false; an empty secret lets the service generate one.
 * @throws ServiceError validation_failed
 */
export function bodyOf(
  request: HttpRequest,
  schema: joi.ObjectSchema,
): WebhookFields & { name: string; url: string; events: string[] } {
  const form = typed(request);
  const given = { ...form, events: chosenEvents(request), enabled: form['enabled'] === 'true' };
  const secret = form['use_webhook_key'] === 'true' ? null : form['secret'] || undefined;
  return fromForm(schema, { ...given, secret }) as ReturnType<typeof bodyOf>;
}
