/**
 * Serializes changes of a product's store, release documents and `latest.json` over all processes;
 * held only for short steps.
 */
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { KeyedMutex } from '../../../lib/keyed-mutex.js';
import type { HeldLease, LeaseRow } from '../../../lib/lease.js';
import { DEPS } from '../deps.js';
import { withLeaseLock } from '../lease-lock.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';

@injectable()
export class ProductLock {
  readonly #mutex = new KeyedMutex();

  constructor(
    @inject(DEPS.leases) private readonly leases: Collection<LeaseRow<ProcessOwner>>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.processes) private readonly processes: Processes,
  ) {}

  /** @throws ServiceError overloaded when the lock is not free within a minute */
  run<T>(product: string, work: (held: HeldLease) => Promise<T>): Promise<T> {
    const lease = {
      id: `product:${product}`,
      what: 'a product',
      busy: `Another process is changing the releases of ${product}. Try again in a minute.`,
    };
    return this.#mutex.run(product, () =>
      withLeaseLock(
        { leases: this.leases, clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
        lease,
        work,
      ),
    );
  }
}
