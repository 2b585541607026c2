import joi from 'joi';
import {
  getFormFields,
  createPageActions,
  formatProblem,
  Redirect,
  View,
  type HttpRequest,
  type PageSpec,
} from '../../../kernel/contract/index.js';
import { notFound, ServiceError } from '../../../kernel/errors.js';
import { formatLiveTopic } from '../../../ports/domain/live-topics.js';
import type { DeliveryQuery } from '../deliveries/delivery-log.js';
import { WAITING_STATES, toWebhookDeliveryView, DELIVERY_STATES, type DeliveryState } from '../model/delivery.js';
import { isAdmin, getReaderAccess } from '../model/reader-access.js';
import {
  writeAccess,
  crumb,
  cursor,
  PAGE_SIZE,
  params,
  readAccess,
  toWebhookStateView,
  title,
  redirectToWebhook,
  addTone,
  toPlainFault,
  uuidSchema,
  type WebhookPageParts,
} from './page-helpers.js';

async function renderWebhook(
  { registry, choices, log }: WebhookPageParts,
  request: HttpRequest,
  id: string,
  done: Record<string, unknown> = {},
): Promise<View> {
  const webhook = await registry.getWebhook(request.principal, id);
  const { state, cursor: after } = request.query as { state?: DeliveryState; cursor?: string };
  const query: DeliveryQuery = {
    limit: PAGE_SIZE,
    ...(state && { state }),
    ...(after !== undefined && { cursor: after }),
  };
  const [view, page, counts] = await Promise.all([
    registry.toView(request.principal, webhook),
    log.listDeliveries(request.principal, id, query),
    log.countByState(id),
  ]);
  const path = `/webhooks/${id}`;
  const sight = getReaderAccess(request.principal);
  const all = Object.values(counts).reduce((sum, n) => sum + n, 0);
  const waiting = WAITING_STATES.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  return new View('webhook', {
    total: all,
    waiting,
    title: webhook.name,
    webhook: toWebhookStateView(view),
    live_topics: formatLiveTopic('webhook', id),
    projects: await choices.listProjects(),
    admin: isAdmin(request.principal),
    items: page.items.map((delivery) => ({
      ...addTone(toWebhookDeliveryView(delivery, sight)),
      last: delivery.attempts.slice(-1).map(toPlainFault)[0] ?? null,
    })),
    next_cursor: page.next,
    page_path: path,
    tabs: [
      { label: 'All', href: path, active: state === undefined, count: all },
      ...DELIVERY_STATES.filter((one) => (counts[one] ?? 0) > 0 || one === state).map((one) => ({
        label: one,
        href: `${path}?state=${one}`,
        active: one === state,
        count: counts[one] ?? 0,
      })),
    ],
    crumbs: [crumb, { label: webhook.name }],
    ...done,
  });
}

export const renderWithSecret = async (
  parts: WebhookPageParts,
  request: HttpRequest,
  id: string,
  made: { heading: string; secret: string; rotated?: boolean },
): Promise<View> =>
  (await renderWebhook(parts, request, id, made)).asOneTimeView({ label: 'Webhook', href: `/webhooks/${id}` });

/** Sent automatically after the webhook is enabled. */
async function redeliver(
  { registry, log }: WebhookPageParts,
  request: HttpRequest,
  id: string,
  delivery: string,
): Promise<void> {
  const { webhook_id } = await log.getDelivery(request.principal, delivery);
  if (webhook_id !== id) throw notFound(`delivery ${delivery} of this webhook`);
  try {
    await registry.redeliver(request.principal, delivery);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict') throw error;
  }
}

export function buildDetailPages(parts: WebhookPageParts): PageSpec[] {
  const { registry } = parts;
  const action = createPageActions(
    { path: '/webhooks/{id}', title, access: writeAccess, input: { params } },
    (request, problem) =>
      renderWebhook(parts, request, request.params['id'] ?? '', { problem: formatProblem(problem) }),
  );
  return [
    {
      path: '/webhooks/{id}',
      title,
      access: readAccess,
      input: { params, query: joi.object({ cursor, state: joi.valid(...DELIVERY_STATES) }) },
      handle: (request) => renderWebhook(parts, request, request.params['id'] ?? ''),
    },
    action('test', async (request, id) =>
      renderWebhook(parts, request, id, { test: toPlainFault(await registry.sendTest(request.principal, id)) }),
    ),
    action('rotate', async (request, id) => {
      const { secret } = await registry.rotateSecret(request.principal, id);
      return renderWithSecret(parts, request, id, { heading: 'New secret', secret, rotated: true });
    }),
    action('enable', async (request, id) => {
      const enabled = await registry.enable(request.principal, id);
      const delivery = uuidSchema.validate(getFormFields(request)['redeliver']);
      if (delivery.error !== undefined)
        return redirectToWebhook(enabled, 'Webhook enabled. Held deliveries are being sent.');
      await redeliver(parts, request, id, delivery.value);
      return new Redirect(`/webhooks/${id}/deliveries/${delivery.value}`, {
        tone: 'success',
        message: 'Webhook enabled. The delivery is being sent again.',
      });
    }),
    action('disable', async (request, id) =>
      redirectToWebhook(
        await registry.disable(request.principal, id),
        'Webhook disabled. Waiting deliveries are held for 24 hours.',
      ),
    ),
    action('delete', async (request, id) => {
      await registry.remove(request.principal, id);
      return new Redirect('/webhooks', { tone: 'success', message: 'Webhook deleted.' });
    }),
  ];
}
