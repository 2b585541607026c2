/** One writer of access files at a time, over all processes (contract 40, access files: "written under one lease"). */
import { inject, injectable } from '../../../kernel/contract.js';
import { ServiceError } from '../../../kernel/errors.js';
import { processLease, type HeldLease } from '../../../lib/lease.js';
import { SECOND_MS } from '../../../lib/time.js';
import { ACCESS_DEPS, type AccessDeps } from './deps.js';

const LEASE_MS = 20 * SECOND_MS;
const WAIT_MS = 60 * SECOND_MS;
const AGAIN_MS = 50;

@injectable()
export class AccessLease {
  constructor(@inject(ACCESS_DEPS) private readonly deps: AccessDeps) {}

  /** @throws ServiceError overloaded when it is not free within a minute */
  async run<T>(work: (held: HeldLease) => Promise<T>): Promise<T> {
    const held = await this.#take();
    try {
      return await work(held);
    } finally {
      const lost = (err: unknown): void =>
        this.deps.log.warn({ err }, 'the lease of the access files was not given back');
      await held.release().catch(lost);
    }
  }

  async #take(): Promise<HeldLease> {
    const lease = await processLease(this.deps.leases, this.deps, {
      id: 'access-files',
      what: 'the access files',
      ttlMs: LEASE_MS,
      judge: 'silence',
    });
    for (let waited = 0; waited < WAIT_MS; waited += AGAIN_MS) {
      const held = await lease.take();
      if (held !== null) return held;
      await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    }
    throw new ServiceError('overloaded', 'Another process has been writing the access files for a minute.');
  }
}
