/**
 * Leases: who attempts a delivery, when any number of processes share one store (contract 70, delivery).
 *
 * A lease is taken by compare-and-set and has no time in it: a process that sees the same lease unchanged for
 * `LEASE_MS` of its own monotonic clock takes it back, so clocks of processes may differ. Rejected: `lease_until`,
 * which a process whose clock is ahead takes from a living one.
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

/** A leased delivery that has not been begun within this time is given back. */
export const STALE_MS = 3_000;
/** Longer than anything that a living process does under one lease. */
export const LEASE_MS = STALE_MS + ATTEMPT_TIMEOUT_MS + 2_000;
const PAGE_SIZE = 200;

type Lease = Pick<Delivery, 'id' | 'lease_by' | 'lease_n'>;

@injectable()
export class DeliveryLeases {
  /** Of this instance, never of the host: a restart is another one. */
  readonly instance: string;
  readonly #active = new Set<string>();
  readonly #held: StalenessTracker;
  readonly #damage: ToldDamage;

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'deliveries' | 'clock' | 'ids' | 'log'>) {
    this.#damage = new ToldDamage(deps.log, 'a delivery');
    this.instance = this.deps.ids.uuid();
    this.#held = new StalenessTracker(() => this.deps.clock.monotonic());
  }

  /** This process works on it: its lease is not taken back here, however old it is. */
  begin(id: string): void {
    this.#active.add(id);
  }

  end(id: string): void {
    this.#active.delete(id);
  }

  /** Leases what is due of a webhook, longest due first. `more`: there is more than `limit`. */
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

  /** Frees deliveries whose lease was not renewed for `LEASE_MS`. Answers how many. */
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

  /** Makes it due immediately. @returns false when another process has claimed it */
  async #release({ id, lease_by, lease_n }: Lease): Promise<boolean> {
    const update = { set: { next_at: isoOf(this.deps.clock.now()) }, unset: ['lease_by'] };
    return (await this.deps.deliveries.change({ id, lease_by, lease_n }, update)) !== null;
  }
}
