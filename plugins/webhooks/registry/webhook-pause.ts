/**
 * Disabling writes the webhook, then holds waiting deliveries (contract 70, hold and resume).
 * Enabling writes the marker `resuming`, releases held deliveries, then clears it; the reconciler
 * completes this after a crash.
 */
import { formatOutboundFault } from '../../../lib/http/outbound-fault.js';
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
  type PluginContext,
} from '../../../kernel/contract/index.js';
import { toIsoString } from '../../../lib/time.js';
import { WAITING_STATES, type WebhookDelivery } from '../model/delivery.js';
import { DEPS } from '../deps.js';
import { WEBHOOK_DISABLED, type WebhookDisabled } from '../../../ports/domain/webhooks.js';
import { getUrlHost, MAX_CONSECUTIVE_FAILURES, type Webhook } from '../model/webhook.js';

export const MAX_HOLD_MS = 24 * 3_600_000;

@injectable()
export class WebhookPauseService {
  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.emit) private readonly emit: PluginContext['emit'],
  ) {}

  /** First failures only; disables the webhook at the twentieth in a row. */
  async countFailure(id: string, why: string): Promise<void> {
    const counted = await this.webhooks.change({ id, enabled: true }, { inc: { failures: 1 } });
    if (counted === null || counted.doc.failures < MAX_CONSECUTIVE_FAILURES) return;
    const reason = `${counted.doc.failures} consecutive deliveries failed. Last error: ${formatOutboundFault(why)}`;
    const now = this.clock.iso();
    const disabled = await this.webhooks.change(
      { id, enabled: true, failures: { gte: MAX_CONSECUTIVE_FAILURES } },
      {
        set: {
          enabled: false,
          disabled_reason: reason,
          disabled_at: now,
          disabled_event: `evt_${this.ids.uuid()}`,
          updated_at: now,
        },
      },
    );
    if (disabled === null) return;
    const { name, url } = disabled.doc;
    this.log.warn({ webhook: id, name, host: getUrlHost(url), reason }, 'a webhook was disabled automatically');
    await this.hold(id);
    await this.#emitDisabled(disabled.doc);
  }

  /**
   * Repeats until every durable listener stored it; the webhook's document contains its id until
   * then.
   */
  async #emitDisabled({
    id,
    name,
    project_slug,
    disabled_at,
    disabled_reason,
    disabled_event,
  }: Webhook): Promise<void> {
    if (disabled_event === undefined || disabled_at === null) return;
    const data: WebhookDisabled = { id, name, reason: disabled_reason ?? '' };
    const stored = await this.emit(WEBHOOK_DISABLED.event, data, {
      id: disabled_event,
      timestamp: disabled_at,
      project_slug,
    });
    if (stored) await this.webhooks.change({ id, disabled_event }, { unset: ['disabled_event'] });
  }

  async resetFailures(id: string): Promise<void> {
    const webhook = await this.webhooks.get(id);
    if (webhook === null || webhook.failures === 0) return;
    await this.webhooks.change({ id, enabled: true, failures: { gt: 0 } }, { set: { failures: 0 } });
  }

  async hold(id: string): Promise<void> {
    const now = this.clock.iso();
    await this.deliveries.changeMany(
      { webhook_id: id, next_at: { gt: '' }, state: { in: WAITING_STATES } },
      { set: { state: 'held', held_at: now, updated_at: now }, unset: ['next_at'] },
    );
  }

  async resume(webhook: Webhook): Promise<void> {
    const { deliveries, webhooks, clock } = this;
    const now = clock.iso();
    const held = { webhook_id: webhook.id, state: 'held' };
    await deliveries.changeMany(
      { ...held, held_at: { gt: toIsoString(clock.now() - MAX_HOLD_MS) } },
      { set: { state: 'pending', next_at: now, updated_at: now }, unset: ['held_at'] },
    );
    await deliveries.changeMany(held, { set: { state: 'expired', updated_at: now }, unset: ['held_at'] });
    await webhooks.change({ id: webhook.id, updated_at: webhook.updated_at }, { set: { resuming: false } });
  }

  /**
   * Runs after a crash.
   * @returns the enabled webhooks
   */
  async reconcile(): Promise<Webhook[]> {
    const silent = await this.webhooks.find({ filter: { disabled_event: { exists: true } }, limit: 1000 });
    for (const webhook of silent.items) await this.#emitDisabled(webhook);
    const { items } = await this.webhooks.find({ filter: { resuming: true, enabled: true }, limit: 1000 });
    for (const webhook of items) await this.resume(webhook);
    return items;
  }

  async expire(): Promise<number> {
    const { deliveries, clock } = this;
    return deliveries.changeMany(
      { state: 'held', held_at: { lte: toIsoString(clock.now() - MAX_HOLD_MS) } },
      { set: { state: 'expired', updated_at: clock.iso() }, unset: ['held_at'] },
    );
  }
}
