import { ServiceError } from '../../kernel/errors.js';
import { createProcessLease, type HeldLease, type LeaseRow, type ProcessLeaseParts } from '../../lib/lease.js';
import { MINUTE_MS, SECOND_MS } from '../../lib/time.js';
import type { ProcessOwner } from '../../ports/processes.js';
import type { Collection } from '../../ports/store/index.js';

const LEASE_MS = 20 * SECOND_MS;
const RETRY_INTERVAL_MS = 50;

interface LeaseLockDeps extends ProcessLeaseParts<ProcessOwner> {
  leases: Collection<LeaseRow<ProcessOwner>>;
}

/**
 * @param what for the log
 * @param busy message when not free within a minute
 * @throws ServiceError overloaded, and what `work` throws
 */
export async function withLeaseLock<T>(
  parts: LeaseLockDeps,
  { id, what, busy }: { id: string; what: string; busy: string },
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { leases, clock, log } = parts;
  const lease = await createProcessLease(leases, parts, { id, what, ttlMs: LEASE_MS, expiryMode: 'silence' });
  const began = clock.monotonic();
  let held = await lease.acquire();
  while (held === null) {
    if (clock.monotonic() - began >= MINUTE_MS) throw new ServiceError('overloaded', busy);
    await new Promise((resolve) => setTimeout(resolve, RETRY_INTERVAL_MS));
    held = await lease.acquire();
  }
  try {
    return await work(held);
  } finally {
    await held.release().catch((err: unknown) => log.warn({ err, lease: id }, `the lease of ${what} was not released`));
  }
}
