import type { AlarmReceiver } from '../../../ports/domain/alarms/receivers.js';
import type { WebhookDeps } from '../deps.js';
import { buildDeliveryId } from '../model/delivery.js';

const MAX_DELIVERIES = 500;

export async function listDeliveriesForEvent(
  { webhooks, deliveries }: Pick<WebhookDeps, 'webhooks' | 'deliveries'>,
  event: { id: string; timestamp: string },
): Promise<Omit<AlarmReceiver, 'event'>[]> {
  const known = (await webhooks.find({ limit: MAX_DELIVERIES })).items;
  const at = Date.parse(event.timestamp) || 0;
  const names = new Map(known.map(({ id, name }) => [buildDeliveryId(id, event.id, at), { id, name }]));
  const { items } = await deliveries.find({ filter: { id: { in: [...names.keys()] } }, limit: MAX_DELIVERIES });
  return items.map(({ id, webhook_id, state, attempts }) => ({
    kind: 'webhook',
    name: names.get(id)?.name ?? webhook_id,
    state,
    at: attempts.at(-1)?.at ?? null,
    href: `/webhooks/${webhook_id}`,
  }));
}
