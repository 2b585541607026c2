/**
 * Where a delivery in hand stands in the store. A new one has no row: its event carries the marker `fan_at` with the
 * webhooks that want it, so nothing is lost without one, and a receiver that answers at once costs a single write, the
 * outcome. What waits or takes longer gets its row meanwhile. Rows are inserted together, a few milliseconds' worth at a
 * time. Rejected: a row at the beginning and a change at the end, which was half of the cost of a delivery.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Update } from '../../../ports/store.js';
import type { Delivery } from './delivery.js';
import { DEPS, type Deps } from '../deps.js';

/** A delivery that this process works on. */
export interface InFlight {
  /** As it is stored, or will be: with this process's lease. */
  delivery: Delivery;
  /** The payload, where it is at hand. */
  body: string | null;
  /** `clock.monotonic()` when it was leased, or its event stored. */
  since: number;
  /** The row: on its way or there (true), or another process's (false); null: there is none yet. */
  row: Promise<boolean> | null;
  /** Told once the row is there or nobody needs it any more. */
  kept: (() => void) | null;
  /** Told when the row could not be stored. */
  lost: (() => void) | null;
}

const WINDOW_MS = 5;
const MOST = 200;

interface Insert {
  row: Delivery;
  resolve: (inserted: boolean) => void;
  reject: (error: unknown) => void;
}

@injectable()
export class DeliveryWriter {
  #inserts: Insert[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(@inject(DEPS) private readonly deps: Pick<Deps, 'deliveries' | 'clock'>) {}

  /** Inserts with others. False: there is one already. */
  insert(row: Delivery): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#inserts.push({ row, resolve, reject });
      if (this.#inserts.length >= MOST) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), WINDOW_MS);
    });
  }

  /** Under way for so long that it should be seen: a row with our lease. */
  keep(held: InFlight): Promise<boolean> {
    return held.row ?? this.#store(held, held.delivery);
  }

  /** Not begun: due from now on, for whoever comes first. */
  async free(held: InFlight): Promise<void> {
    const due = this.deps.clock.iso();
    if (held.row === null) await this.#store(held, { ...unleased(held.delivery), next_at: due });
    else await this.#change(held, { set: { next_at: due }, unset: ['lease_by'] });
  }

  /** Its webhook is disabled. */
  async hold(held: InFlight): Promise<void> {
    const now = this.deps.clock.iso();
    const set = { state: 'held', held_at: now, updated_at: now } as const;
    if (held.row === null) await this.#store(held, { ...unleased(held.delivery), ...set });
    else await this.#change(held, { set, unset: ['lease_by'] });
  }

  /** Nothing is left to send, or nowhere to send it. */
  async discard(held: InFlight): Promise<void> {
    const { id, lease_by, lease_n } = held.delivery;
    if (held.row === null) held.kept?.();
    else if (await held.row) await this.deps.deliveries.remove({ id, lease_by, lease_n });
  }

  /**
   * The outcome of an attempt.
   * @param whole the delivery as it is after the attempt
   * @param update the same as a change of a row that is there
   * @returns false when another process holds the delivery by now: its attempt is the one that counts
   */
  finish(held: InFlight, whole: Delivery, update: Update): Promise<boolean> {
    return held.row === null ? this.#store(held, whole) : this.#change(held, update);
  }

  #store(held: InFlight, row: Delivery): Promise<boolean> {
    const storing = this.insert(row);
    held.row = storing;
    storing.then(
      () => held.kept?.(),
      () => {
        held.row = null;
        held.lost?.();
      },
    );
    return storing;
  }

  async #change(held: InFlight, update: Update): Promise<boolean> {
    const { id, lease_by, lease_n } = held.delivery;
    if (!(await held.row)) return false;
    const [result] = await this.deps.deliveries.bulk([{ change: { id, lease_by, lease_n }, update }]);
    return result !== undefined && 'n' in result && result.n === 1;
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const inserts = this.#inserts;
    this.#inserts = [];
    if (inserts.length === 0) return;
    this.deps.deliveries.bulk(inserts.map(({ row }) => ({ insert: row }))).then(
      (results) => inserts.forEach(({ resolve }, i) => resolve('n' in (results[i] ?? {}))),
      (error: unknown) => inserts.forEach(({ reject }) => reject(error)),
    );
  }
}

function unleased({ lease_by: _gone, ...row }: Delivery): Delivery {
  return row;
}
