/**
 * Writes deliveries to the store. Inserts go together, those of a few milliseconds in one request; a change is guarded
 * by the lease of its delivery.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import type { Update } from '../../../ports/store.js';
import { DEPS, type WebhookDeps } from '../deps.js';
import type { Delivery } from '../model/delivery.js';

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

  constructor(@inject(DEPS) private readonly deps: Pick<WebhookDeps, 'deliveries'>) {}

  /** False: there is one with this id already. */
  insert(row: Delivery): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#inserts.push({ row, resolve, reject });
      if (this.#inserts.length >= MOST) this.#flush();
      else this.#timer ??= setTimeout(() => this.#flush(), WINDOW_MS);
    });
  }

  /** False: another process has the lease. */
  async change({ id, lease_by, lease_n }: Delivery, update: Update): Promise<boolean> {
    const [result] = await this.deps.deliveries.bulk([{ change: { id, lease_by, lease_n }, update }]);
    return result !== undefined && 'n' in result && result.n === 1;
  }

  async remove({ id, lease_by, lease_n }: Delivery): Promise<void> {
    await this.deps.deliveries.remove({ id, lease_by, lease_n });
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
