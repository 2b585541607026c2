/**
 * Serializes changes of a product's store, release documents and `latest.json` over all processes;
 * held only for short steps.
 */
import { inject, injectable } from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import type { HeldLease } from '../../../lib/lease.js';
import { DEPS, type ReleaseDeps } from '../deps.js';
import { withLeaseLock } from '../lease-lock.js';

@injectable()
export class ProductLock {
  readonly #mutex = new KeyedMutex();

  constructor(@inject(DEPS) private readonly deps: ReleaseDeps) {}

  /** @throws ServiceError overloaded when the lock is not free within a minute */
  run<T>(product: string, work: (held: HeldLease) => Promise<T>): Promise<T> {
    const lease = {
      id: `product:${product}`,
      what: 'a product',
      busy: `Another process is changing the releases of ${product}. Try again in a minute.`,
    };
    return this.#mutex.run(product, () => withLeaseLock(this.deps, lease, work));
  }
}
