import { createFormPage, Redirect, View, type HttpRequest, type PageSpec } from '../../../kernel/contract/index.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import { notFound } from '../../../kernel/errors.js';
import { toWebhookDeliveryView, type WebhookDelivery } from '../model/delivery.js';
import {
  writeAccess,
  crumb,
  params,
  formatJson,
  addTone,
  readAccess,
  toPlainFault,
  uuidSchema,
  type WebhookPageParts,
} from './page-helpers.js';
import { isAdmin, getReaderAccess } from '../model/reader-access.js';
import type { Webhook } from '../model/webhook.js';

const REFRESH_SECONDS = 2;
/** A receiver has 15 s, and the workers may be behind. */
const SOON_WINDOW_MS = 60_000;

function isDueSoon({ state, next_at, lease_by, updated_at }: WebhookDelivery, now: number): boolean {
  if (lease_by !== undefined) return true;
  if (state !== 'pending' || next_at === undefined) return false;
  return now - Date.parse(updated_at) < SOON_WINDOW_MS;
}

function toOutcomeView({ attempts, state, next_at }: WebhookDelivery): object | null {
  const last = attempts.at(-1);
  if (last === undefined) return null;
  return {
    ...toPlainFault(last),
    ok: last.error === null,
    state,
    next_at: state === 'retrying' ? (next_at ?? null) : null,
  };
}

export function buildDeliveryPages({ registry, choices, log, clock }: WebhookPageParts): PageSpec[] {
  const input = { params: params.append({ delivery: uuidSchema }) };
  const path = '/webhooks/{id}/deliveries/{delivery}';
  const need = async (request: HttpRequest): Promise<{ webhook: Webhook; delivery: WebhookDelivery }> => {
    const webhook = await registry.getWebhook(request.principal, request.params['id'] ?? '');
    const delivery = await log.getDelivery(request.principal, request.params['delivery'] ?? '');
    if (delivery.webhook_id !== webhook.id) throw notFound(`delivery ${delivery.id} of this webhook`);
    return { webhook, delivery };
  };
  const view = async (request: HttpRequest, problem: string | null = null): Promise<View> => {
    const { webhook, delivery } = await need(request);
    const sight = getReaderAccess(request.principal);
    const shown = toWebhookDeliveryView(delivery, sight);
    const event = await log.findEvent(delivery.event_id);
    return new View('delivery', {
      title: `Delivery of ${delivery.event}`,
      live_topics: formatLiveTopic('delivery', delivery.id),
      projects: await choices.listProjects(),
      webhook,
      problem,
      delivery: addTone(shown),
      admin: isAdmin(request.principal),
      answers: sight !== 'none',
      attempts: shown.attempts.toReversed().map((one) => Object.assign(toPlainFault(one), { ok: one.error === null })),
      under_way: delivery.lease_by !== undefined,
      outcome: toOutcomeView(delivery),
      ...(isDueSoon(delivery, clock.now()) && { refresh_seconds: REFRESH_SECONDS }),
      held_at: delivery.held_at ?? null,
      body: event === null ? null : formatJson(event.body),
      crumbs: [crumb, { label: webhook.name, href: `/webhooks/${webhook.id}` }, { label: delivery.event }],
    });
  };
  return [
    { path, title: 'Delivery', access: readAccess, input, handle: (request) => view(request) },
    createFormPage(
      { path: `${path}/redeliver`, title: 'Delivery', access: writeAccess, input },
      async (request) => {
        const { webhook, delivery } = await need(request);
        await registry.redeliver(request.principal, delivery.id);
        const message = 'Redelivering…';
        return new Redirect(`/webhooks/${webhook.id}/deliveries/${delivery.id}`, { tone: 'success', message });
      },
      (request, { message }) => view(request, message),
    ),
  ];
}
