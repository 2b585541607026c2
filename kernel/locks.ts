/**
 * `ctx.lock`: mutual exclusion across processes, based on a store lease (lib/lease.ts). A killed
 * process loses its lock immediately on its own host, elsewhere within LOCK_DURATION_MS. Expiry is
 * evaluated by the clock, because a command is too short-lived to watch the lease.
 */
import { Lease, type LeaseRow } from '../lib/lease.js';
import type { Clock } from '../ports/clock.js';
import type { Ids } from '../ports/ids.js';
import type { Logger } from '../ports/logger.js';
import type { ProcessOwner, Processes } from '../ports/processes.js';
import type { Collection, DocumentStore } from '../ports/store/index.js';

export const LOCK_DURATION_MS = 30_000;
const LOCK_NAME_PATTERN = /^[a-z0-9][A-Za-z0-9._:/-]{0,99}$/;

export interface HeldLock {
  /** The store was unreachable for too long, or this process was suspended. */
  readonly signal: AbortSignal;
  /** Fencing token, higher than that of every earlier holder. */
  readonly fence: number;
  /**
   * Call before a critical step.
   * @throws LeaseLost
   */
  confirm(): Promise<void>;
}

interface LockParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  processes?: Processes | undefined;
}

export class PluginLocks {
  readonly #rows: Collection<LeaseRow<ProcessOwner>>;

  constructor(private readonly parts: LockParts) {
    this.#rows = parts.store.collection('kernel_leases');
  }

  /** @throws TypeError for an invalid name, LeaseLost, and what `work` throws */
  async run<T>(
    plugin: string,
    name: string,
    log: Logger,
    work: (held: HeldLock) => Promise<T>,
  ): Promise<{ result: T } | null> {
    if (!LOCK_NAME_PATTERN.test(name))
      throw new TypeError(`the name of a lock must match ${LOCK_NAME_PATTERN.source}, not ${JSON.stringify(name)}`);
    const { clock, ids, processes } = this.parts;
    const lease = new Lease(this.#rows, {
      id: `${plugin}:${name}`,
      ttlMs: LOCK_DURATION_MS,
      expiryMode: 'clock',
      clock,
      uuid: () => ids.uuid(),
      ...(processes && { owner: await processes.getSelf(), ownerDead: (owner) => processes.isDead(owner) }),
      onFault: (err) => log.warn({ err, lock: name }, 'a lock was not renewed'),
    });
    const held = await lease.acquire();
    if (held === null) return null;
    try {
      const { signal, fence } = held;
      const result = await work({ signal, fence, confirm: () => held.confirm() });
      held.check();
      return { result };
    } finally {
      await held
        .release()
        .catch((err: unknown) => log.warn({ err, lock: name }, 'a lock was not released; it will expire'));
    }
  }
}
