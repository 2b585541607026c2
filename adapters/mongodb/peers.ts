/**
 * The processes that serve one MongoDB. A limit holds for all of them together: each counts for itself and divides the
 * limit by how many there are (contract 95, several processes), which asks nothing of the store while it counts.
 * Rejected: counters in the store, a write for each call in the path that they protect.
 *
 * Each process renews a document; one that stays the same for some renewals, by the monotonic clock of who looks, is
 * gone.
 */
import { hostname } from 'node:os';
import { StalenessTracker } from '../../lib/staleness.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Doc, DocumentStore } from '../../ports/store.js';

interface PeerDoc extends Doc {
  host: string;
  pid: number;
  version: string;
  /** Rises with every renewal. */
  beat: number;
}

const RENEW_MS = 10_000;
/** Three renewals: two may fail. */
const GONE_MS = 3 * RENEW_MS;
/** Documents of processes that were killed are kept so long: another process may have a store that answers late. */
const FORGET_MS = 10 * RENEW_MS;
const MOST = 1_000;

export interface PeersParts {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  version: string;
}

export class Peers {
  readonly #rows: Collection<PeerDoc>;
  readonly #id: string;
  readonly #seen: StalenessTracker;
  #count = 1;
  /** Its document is in the store, or may be. */
  #isListed = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly parts: PeersParts) {
    this.#rows = parts.store.collection('kernel_processes');
    this.#id = parts.ids.uuid();
    this.#seen = new StalenessTracker(() => parts.clock.monotonic());
  }

  /** This process included; 1 until it has looked, and as it was last while the store is away. */
  get count(): number {
    return this.#count;
  }

  /** Looks once, and from then on by itself. */
  async start(): Promise<void> {
    const look = (): void => void (this.#looking = this.#lookSafely());
    look();
    await this.#looking;
    this.#timer = setInterval(look, RENEW_MS);
    this.#timer.unref();
  }

  /** The others need not wait until it counts as gone. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    // A start that failed has closed the store by now.
    if (!this.#isListed) return;
    await this.#rows.remove({ id: this.#id }).catch((err: unknown) => this.#tell(err));
  }

  /** Two calls of the store, whatever was counted. */
  async look(): Promise<void> {
    const { version } = this.parts;
    const set = { host: hostname(), pid: process.pid, version };
    this.#isListed = true;
    await this.#rows.change({ id: this.#id }, { set, inc: { beat: 1 } }, { upsert: true });
    const { items } = await this.#rows.find({ limit: MOST });
    const round = this.#seen.round();
    const aged = items.map(({ id, beat }) => ({ id, ageMs: id === this.#id ? 0 : round.ageMs(`${id} ${beat}`) }));
    round.end();
    this.#count = Math.max(1, aged.filter(({ ageMs }) => ageMs < GONE_MS).length);
    const forgotten = aged.filter(({ ageMs }) => ageMs >= FORGET_MS).map(({ id }) => id);
    if (forgotten.length > 0) await this.#rows.remove({ id: { in: forgotten } });
  }

  async #lookSafely(): Promise<void> {
    try {
      await this.look();
    } catch (err) {
      this.#tell(err);
    }
  }

  #tell(err: unknown): void {
    this.parts.log.warn({ err }, 'the processes of this store were not counted; limits stay as they are');
  }
}
