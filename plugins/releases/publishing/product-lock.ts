/**
 * One change at a time of a product's store, release documents and `latest.json`, over all processes. It is held for
 * the short steps alone, never while a package is received or read.
 */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import { Lease, type HeldLease } from '../../../lib/lease.js';
import { MINUTE_MS, SECOND_MS } from '../../../lib/time.js';
import type { ProcessOwner } from '../../../ports/processes.js';
import { DEPS, type Deps } from '../deps.js';

const LEASE_MS = 20 * SECOND_MS;
const WAIT_MS = MINUTE_MS;
const AGAIN_MS = 50;

@injectable()
export class ProductLock {
  readonly #mutex = new KeyedMutex();

  constructor(@inject(DEPS) private readonly deps: Deps) {}

  /** @throws ServiceError overloaded when it is not free within a minute */
  run<T>(product: string, work: (held: HeldLease) => Promise<T>): Promise<T> {
    return this.#mutex.run(product, async () => {
      const held = await this.#take(product);
      try {
        return await work(held);
      } finally {
        await held
          .release()
          .catch((err: unknown) => this.deps.log.warn({ err, product }, 'a lease was not given back'));
      }
    });
  }

  async #take(product: string): Promise<HeldLease> {
    const { leases, ids, clock, processes, log } = this.deps;
    const lease = new Lease(leases, {
      id: `product:${product}`,
      ttlMs: LEASE_MS,
      judge: 'silence',
      clock,
      uuid: () => ids.uuid(),
      owner: await processes.self(),
      ownerDead: (owner) => processes.dead(owner as ProcessOwner),
      onFault: (err) => log.warn({ err, product }, 'the lease of a product was not renewed'),
    });
    for (const began = clock.monotonic(); clock.monotonic() - began < WAIT_MS;) {
      const held = await lease.take();
      if (held !== null) return held;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    throw new ServiceError('overloaded', `Another process has been changing the releases of ${product} for a minute.`);
  }
}
