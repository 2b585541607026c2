/**
 * A lease contains no time: a process that sees it unchanged for `DELIVERY_LEASE_MS` of its
 * monotonic clock reclaims it, so clocks may differ (contract 70, delivery).
 */
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { iterateItems } from '../../../lib/paging.js';
import { StalenessTracker } from '../../../lib/staleness.js';
import { toIsoString } from '../../../lib/time.js';
import type { FindQuery } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import type { WebhookDelivery } from '../model/delivery.js';
import { DEPS } from '../deps.js';
import { ATTEMPT_TIMEOUT_MS } from '../sending/webhook-sender.js';

export const MAX_UNSTARTED_LEASE_MS = 3_000;
export const DELIVERY_LEASE_MS = MAX_UNSTARTED_LEASE_MS + ATTEMPT_TIMEOUT_MS + 2_000;
const PAGE_SIZE = 200;

type LeaseFields = Pick<WebhookDelivery, 'id' | 'lease_by' | 'lease_n'>;

@injectable()
export class DeliveryLeaseService {
  /** A restart has a new one. */
  readonly instanceId: string;
  readonly #active = new Set<string>();
  readonly #held: StalenessTracker;
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.deliveries) private readonly deliveries: Collection<WebhookDelivery>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) log: Logger,
  ) {
    this.#damage = new CorruptionReporter(log, 'a delivery');
    this.instanceId = this.ids.uuid();
    this.#held = new StalenessTracker(() => this.clock.monotonic());
  }

  /** Its lease is then not reclaimed at any age. */
  beginWork(id: string): void {
    this.#active.add(id);
  }

  endWork(id: string): void {
    this.#active.delete(id);
  }

  async claim(webhook: string, limit: number): Promise<{ leased: WebhookDelivery[]; more: boolean }> {
    const { deliveries, clock } = this;
    const now = clock.iso();
    const { items, next } = await deliveries.find({
      damaged: this.#damage.report,
      filter: { webhook_id: webhook, next_at: { gt: '', lte: now } },
      sort: [
        ['webhook_id', 'asc'],
        ['next_at', 'asc'],
      ],
      limit,
    });
    const updateResults = await deliveries.bulk(
      items.map(({ id, next_at, lease_n }) => ({
        change: { id, next_at, lease_n },
        update: { set: { lease_by: this.instanceId }, inc: { lease_n: 1 }, unset: ['next_at'] },
      })),
    );
    const leased = items.flatMap(({ next_at: _due, ...delivery }, i) => {
      const result = updateResults[i];
      if (result === undefined || !('n' in result) || result.n !== 1) return [];
      return [{ ...delivery, lease_by: this.instanceId, lease_n: delivery.lease_n + 1 }];
    });
    return { leased, more: next !== null };
  }

  async reclaimExpired(): Promise<number> {
    const round = this.#held.startRound();
    let n = 0;
    const leased: FindQuery = { filter: { lease_by: { gt: '' } }, sort: [['lease_by', 'asc']], limit: PAGE_SIZE };
    for await (const { id, lease_by, lease_n } of iterateItems(this.deliveries, leased)) {
      if (this.#active.has(id)) continue;
      if (round.getAgeMs(`${id} ${lease_by} ${lease_n}`) < DELIVERY_LEASE_MS) continue;
      if (await this.#release({ id, lease_by, lease_n })) n += 1;
    }
    round.end();
    return n;
  }

  /**
   * Due immediately.
   * @returns false when another process claimed it
   */
  async #release({ id, lease_by, lease_n }: LeaseFields): Promise<boolean> {
    const update = { set: { next_at: toIsoString(this.clock.now()) }, unset: ['lease_by'] };
    return (await this.deliveries.change({ id, lease_by, lease_n }, update)) !== null;
  }
}
