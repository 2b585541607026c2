/**
 * Leases of deliveries among processes (contract 70, delivery). A lease contains no time: a process
 * that sees it unchanged for `DELIVERY_LEASE_MS` of its monotonic clock reclaims it, so clocks of
 * processes may differ.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { each } from '../../../lib/paging.js';
import { StalenessTracker } from '../../../lib/staleness.js';
import { isoOf } from '../../../lib/time.js';
import type { Find } from '../../../ports/store.js';
import { ToldDamage } from '../../../ports/store/told-damage.js';
import type { Delivery } from '../model/delivery.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import { ATTEMPT_TIMEOUT_MS } from '../sending/sender.js';

export const STALE_MS = 3_000;
export const LEASE_MS = STALE_MS + ATTEMPT_TIMEOUT_MS + 2_000;
const PAGE_SIZE = 200;

type Lease = Pick<Delivery, 'id' | 'lease_by' | 'lease_n'>;

@injectable()
export class DeliveryLeases {
  /** Id of this process, not of the host: a restart has a new one. */
  readonly instance: string;
  readonly #active = new Set<string>();
  readonly #held: StalenessTracker;
  readonly #damage: ToldDamage;

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'deliveries' | 'clock' | 'ids' | 'log'>) {
    this.#damage = new ToldDamage(deps.log, 'a delivery');
    this.instance = this.deps.ids.uuid();
    this.#held = new StalenessTracker(() => this.deps.clock.monotonic());
  }

  /** Marks the delivery as in progress here, so that its lease is not reclaimed at any age. */
  begin(id: string): void {
    this.#active.add(id);
  }

  end(id: string): void {
    this.#active.delete(id);
  }

  async claim(webhook: string, limit: number): Promise<{ leased: Delivery[]; more: boolean }> {
    const { deliveries, clock } = this.deps;
    const now = clock.iso();
    const { items, next } = await deliveries.find({
      damaged: this.#damage.tell,
      filter: { webhook_id: webhook, next_at: { gt: '', lte: now } },
      sort: [
        ['webhook_id', 'asc'],
        ['next_at', 'asc'],
      ],
      limit,
    });
    const taken = await deliveries.bulk(
      items.map(({ id, next_at, lease_n }) => ({
        change: { id, next_at, lease_n },
        update: { set: { lease_by: this.instance }, inc: { lease_n: 1 }, unset: ['next_at'] },
      })),
    );
    const leased = items.flatMap(({ next_at: _due, ...delivery }, i) => {
      const result = taken[i];
      if (result === undefined || !('n' in result) || result.n !== 1) return [];
      return [{ ...delivery, lease_by: this.instance, lease_n: delivery.lease_n + 1 }];
    });
    return { leased, more: next !== null };
  }

  async reclaimExpired(): Promise<number> {
    const round = this.#held.round();
    let n = 0;
    const leased: Find = { filter: { lease_by: { gt: '' } }, sort: [['lease_by', 'asc']], limit: PAGE_SIZE };
    for await (const { id, lease_by, lease_n } of each(this.deps.deliveries, leased)) {
      if (this.#active.has(id)) continue;
      if (round.ageMs(`${id} ${lease_by} ${lease_n}`) < LEASE_MS) continue;
      if (await this.#release({ id, lease_by, lease_n })) n += 1;
    }
    round.end();
    return n;
  }

  /**
   * Makes it due immediately.
   * @returns false when another process claimed it
   */
  async #release({ id, lease_by, lease_n }: Lease): Promise<boolean> {
    const update = { set: { next_at: isoOf(this.deps.clock.now()) }, unset: ['lease_by'] };
    return (await this.deps.deliveries.change({ id, lease_by, lease_n }, update)) !== null;
  }
}
