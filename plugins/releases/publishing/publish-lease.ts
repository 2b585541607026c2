/**
 * One publisher per release over all processes (contract 40, publishing). The document also records
 * the intent before the first rename.
 */
import {
  inject,
  injectable,
  type Collection,
  type Clock,
  type Ids,
  type Logger,
} from '../../../kernel/contract/index.js';
import { createProcessLease, type HeldLease, type Lease } from '../../../lib/lease.js';
import { SECOND_MS } from '../../../lib/time.js';
import type { ProcessOwner, Processes } from '../../../ports/processes.js';
import type { Json } from '../../../ports/store/index.js';
import { DEPS } from '../deps.js';
import { createReleaseError } from '../errors.js';
import type { PublishDoc, PublishIntent } from '../model.js';

const LEASE_MS = 20 * SECOND_MS;

export interface PublishClaim {
  id: string;
  held: HeldLease;
  left: PublishIntent | null;
}

@injectable()
export class PublishLeaseManager {
  /** Each expires by how long its holder is silent. */
  readonly #watched = new Map<string, Lease<ProcessOwner>>();

  constructor(
    @inject(DEPS.publishes) private readonly publishes: Collection<PublishDoc>,
    @inject(DEPS.clock) private readonly clock: Clock,
    @inject(DEPS.ids) private readonly ids: Ids,
    @inject(DEPS.log) private readonly log: Logger,
    @inject(DEPS.processes) private readonly processes: Processes,
  ) {}

  /** @throws ServiceError publish_in_progress */
  async claim(id: string): Promise<PublishClaim> {
    const claim = await this.tryClaim(id);
    if (claim === null) {
      throw createReleaseError(
        'publish_in_progress',
        'This release is being published by another request. Wait for its response.',
      );
    }
    return claim;
  }

  /** @returns null when a living publisher holds the lease */
  async tryClaim(id: string): Promise<PublishClaim | null> {
    const lease = this.#watched.get(id) ?? (await this.#getLease(id));
    const held = await lease.acquire();
    if (held === null) {
      this.#watched.set(id, lease);
      return null;
    }
    this.#watched.delete(id);
    const doc = await this.publishes.get(id);
    return { id, held, left: doc?.intent ?? null };
  }

  /**
   * Runs before the first rename.
   * @throws LeaseLost
   */
  async recordIntent({ held }: PublishClaim, intent: PublishIntent): Promise<void> {
    await held.confirm({ intent: intent as unknown as Json });
  }

  async clearIntent({ id, held }: PublishClaim): Promise<void> {
    await this.publishes.change({ id, fence: held.fence }, { unset: ['intent'] });
  }

  /** The next claim handles an unfinished intent. */
  async release({ id, held }: PublishClaim): Promise<void> {
    const { holder, fence } = held;
    held.stop();
    try {
      const gone = await this.publishes.remove({ id, holder, fence, intent: null });
      if (gone === 0) await held.release();
    } catch (err) {
      this.log.warn({ err, release: id }, 'the lease of a publish was not released; it will expire');
    }
  }

  async isHeld(id: string): Promise<boolean> {
    return (await this.publishes.get(id)) !== null;
  }

  async *listAll(): AsyncGenerator<PublishDoc> {
    for (let after: string | null = null, more = true; more;) {
      const page: { items: PublishDoc[]; next: string | null } = await this.publishes.find({ limit: 200, after });
      yield* page.items;
      after = page.next;
      more = after !== null;
    }
  }

  #getLease(id: string): Promise<Lease<ProcessOwner>> {
    return createProcessLease(
      this.publishes,
      { clock: this.clock, ids: this.ids, log: this.log, processes: this.processes },
      {
        id,
        what: 'a publish',
        ttlMs: LEASE_MS,
        expiryMode: 'silence',
      },
    );
  }
}
