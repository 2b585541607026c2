/**
 * `ctx.lock`: one process at a time, for every plugin, on a lease of the store (lib/lease.ts). A lock lasts while its
 * holder renews it: a process that was killed loses it at once on its own host, and within LOCK_MS from another one. It
 * is judged by the clock, because a command lives too short to watch it.
 */
import { Lease, type LeaseRow } from '../lib/lease.js';
import type { Clock } from '../ports/clock.js';
import type { Ids } from '../ports/ids.js';
import type { Logger } from '../ports/logger.js';
import type { ProcessOwner, Processes } from '../ports/processes.js';
import type { Collection, DocumentStore } from '../ports/store.js';

export const LOCK_MS = 30_000;
const NAME = /^[a-z0-9][A-Za-z0-9._:/-]{0,99}$/;

/** What the holder of a lock is given. */
export interface LockHeld {
  /** Aborts when the lock is lost: the store was away for too long, or this process was frozen. */
  readonly signal: AbortSignal;
  /** Higher than that of every earlier holder: a write that names it can refuse a holder from before. */
  readonly fence: number;
  /** Before a step that only the holder may take: asks the store. @throws LeaseLost */
  confirm(): Promise<void>;
}

interface LockParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  /** Absent: nobody knows which process is gone, and a lock always runs out. */
  processes?: Processes | undefined;
}

export class Locks {
  readonly #rows: Collection<LeaseRow<ProcessOwner>>;

  constructor(private readonly parts: LockParts) {
    this.#rows = parts.store.collection('kernel_leases');
  }

  /** @throws TypeError for a name that is none, LeaseLost, and what `work` throws */
  async run<T>(
    plugin: string,
    name: string,
    log: Logger,
    work: (held: LockHeld) => Promise<T>,
  ): Promise<{ result: T } | null> {
    if (!NAME.test(name))
      throw new TypeError(`the name of a lock must match ${NAME.source}, not ${JSON.stringify(name)}`);
    const { clock, ids, processes } = this.parts;
    const lease = new Lease(this.#rows, {
      id: `${plugin}:${name}`,
      ttlMs: LOCK_MS,
      judge: 'clock',
      clock,
      uuid: () => ids.uuid(),
      ...(processes && { owner: await processes.self(), ownerDead: (owner) => processes.dead(owner) }),
      onFault: (err) => log.warn({ err, lock: name }, 'a lock was not renewed'),
    });
    const held = await lease.take();
    if (held === null) return null;
    try {
      const { signal, fence } = held;
      const result = await work({ signal, fence, confirm: () => held.confirm() });
      held.check();
      return { result };
    } finally {
      await held
        .release()
        .catch((err: unknown) => log.warn({ err, lock: name }, 'a lock was not released; it runs out'));
    }
  }
}
