/**
 * First in the delivery, guarded by its lease, then in the webhook's failure count (contract 70,
 * delivery). A crash in between may miss a failure, but never counts it twice.
 */
import { inject, injectable, type Collection, type Clock, type Logger } from '../../../kernel/contract/index.js';
import type { Update } from '../../../ports/store/index.js';
import {
  MAX_STORED_ATTEMPTS,
  type DeliveryAttempt,
  type WebhookDelivery,
  type DeliveryState,
} from '../model/delivery.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { WebhookPauseService } from '../registry/webhook-pause.js';
import { DeliveryQueue, type LeasedDelivery } from './delivery-queue.js';
import { RetryTimeCalculator } from './retry-times.js';
import { getDeliveryRetryDelay } from '../model/retry-schedule.js';
import type { DeliveryResult } from '../sending/webhook-sender.js';
import type { Webhook } from '../model/webhook.js';
import type { Metrics } from '../../../ports/metrics.js';

const DELIVERY_OUTCOMES = [
  'success',
  'retrying',
  'exhausted',
  'held',
  'blocked',
] as const satisfies readonly DeliveryState[];
type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

type OutcomeFields = { state: DeliveryOutcome } & Partial<
  Pick<WebhookDelivery, 'failures' | 'counted' | 'held_at' | 'next_at'>
>;

const TIE_WINDOW_MS = 1_000;

@injectable()
export class DeliveryOutcomeRecorder {
  readonly #ended: ReturnType<WebhookDeps['metrics']['counter']>;

  constructor(
    @inject(DEPS.webhooks) private readonly webhooks: Collection<Webhook>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.random) private readonly random: () => number,
    @inject(DEPS.metrics) private readonly metrics: Metrics,
    @inject(WebhookPauseService) private readonly pause: WebhookPauseService,
    @inject(DeliveryQueue) private readonly queue: DeliveryQueue,
    @inject(RetryTimeCalculator) private readonly times: RetryTimeCalculator,
  ) {
    this.#ended = this.metrics.counter(
      'aos_webhook_deliveries_total',
      'Recorded attempts, by result of their delivery',
      { outcome: DELIVERY_OUTCOMES },
    );
  }

  async record(item: LeasedDelivery, webhook: Webhook, result: DeliveryResult): Promise<void> {
    if (result.verdict === 'success') {
      if (!(await this.#writeOutcome(item, result, { state: 'success' }))) return;
      // Another process's concurrent failure stays, unless this attempt took long.
      if (webhook.failures > 0 || result.duration_ms > TIE_WINDOW_MS) await this.pause.resetFailures(webhook.id);
    } else if (result.verdict === 'blocked') {
      await this.#writeOutcome(item, result, { state: 'blocked' });
    } else await this.#recordFailure(item, result);
  }

  async #recordFailure(item: LeasedDelivery, result: DeliveryResult): Promise<void> {
    const { delivery } = item;
    const failures = delivery.failures + 1;
    const delay = getDeliveryRetryDelay(failures, result, this.random());
    const set = { failures, counted: true, ...(await this.#planNext(delivery, delay)) };
    if (!(await this.#writeOutcome(item, result, set))) return;
    if (!delivery.counted) await this.pause.countFailure(delivery.webhook_id, result.error ?? 'failed');
  }

  async #planNext(delivery: WebhookDelivery, delay: number | null): Promise<OutcomeFields> {
    if (delay === null) return { state: 'exhausted' };
    const { webhooks, clock } = this;
    const webhook = await webhooks.get(delivery.webhook_id);
    if (webhook?.enabled === false) return { state: 'held', held_at: clock.iso() };
    return { state: 'retrying', next_at: this.times.getTimeIn(delay) };
  }

  async #writeOutcome(item: LeasedDelivery, result: DeliveryResult, set: OutcomeFields): Promise<boolean> {
    const { at, status_code, duration_ms, error, excerpt, public: open } = result;
    const { delivery } = item;
    const attempt: DeliveryAttempt = {
      attempt: delivery.made + 1,
      at,
      status_code,
      duration_ms,
      error,
      excerpt,
      public: open,
    };
    const changed = { ...set, made: attempt.attempt, attempted_at: at, updated_at: this.clock.iso() };
    const update: Update = {
      set: changed,
      push: { attempts: { each: [{ ...attempt }], keep: MAX_STORED_ATTEMPTS } },
      unset: ['lease_by', ...(set.held_at === undefined ? ['held_at'] : [])],
    };
    const written = await this.queue.acknowledge(item, update);
    if (written) this.#ended.inc({ outcome: set.state });
    else this.log.warn({ delivery: delivery.id }, 'an attempt ended after its lease');
    return written;
  }
}
