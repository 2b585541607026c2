/**
 * Counts the processes that serve one MongoDB, which divide shared limits (contract 95, several
 * processes). Every process renews a document; one that is not renewed in time, by the observer's
 * monotonic clock, is gone.
 */
import { hostname } from 'node:os';
import { StalenessTracker } from '../../lib/staleness.js';
import type { Clock } from '../../ports/clock.js';
import type { Ids } from '../../ports/ids.js';
import type { Logger } from '../../ports/logger.js';
import type { Collection, Doc, DocumentStore } from '../../ports/store/index.js';

interface PeerDoc extends Doc {
  host: string;
  pid: number;
  version: string;
  beat: number;
}

const RENEW_INTERVAL_MS = 10_000;
/** Two of three renewals may fail. */
const GONE_AFTER_MS = 3 * RENEW_INTERVAL_MS;
/** Retention for documents of killed processes: another process may see a slow store. */
const FORGET_AFTER_MS = 10 * RENEW_INTERVAL_MS;
const MAX_PEERS = 1_000;

export interface PeerCounterDependencies {
  store: DocumentStore;
  clock: Clock;
  ids: Ids;
  log: Logger;
  version: string;
}

export class PeerCounter {
  readonly #rows: Collection<PeerDoc>;
  readonly #id: string;
  readonly #seen: StalenessTracker;
  #count = 1;
  #isListed = false;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(private readonly parts: PeerCounterDependencies) {
    this.#rows = parts.store.collection('kernel_processes');
    this.#id = parts.ids.uuid();
    this.#seen = new StalenessTracker(() => parts.clock.monotonic());
  }

  /** 1 before the first count, and unchanged while the store is unavailable. */
  get count(): number {
    return this.#count;
  }

  async start(): Promise<void> {
    const look = (): void => void (this.#looking = this.#updateSafely());
    look();
    await this.#looking;
    this.#timer = setInterval(look, RENEW_INTERVAL_MS);
    this.#timer.unref();
  }

  /** Removes the document, so that others need not wait for its expiry. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
    // After a failed start the store is already closed.
    if (!this.#isListed) return;
    await this.#rows.remove({ id: this.#id }).catch((err: unknown) => this.#logFailure(err));
  }

  async update(): Promise<void> {
    const { version } = this.parts;
    const set = { host: hostname(), pid: process.pid, version };
    this.#isListed = true;
    await this.#rows.change({ id: this.#id }, { set, inc: { beat: 1 } }, { upsert: true });
    const { items } = await this.#rows.find({ limit: MAX_PEERS });
    const round = this.#seen.startRound();
    const aged = items.map(({ id, beat }) => ({ id, ageMs: id === this.#id ? 0 : round.getAgeMs(`${id} ${beat}`) }));
    round.end();
    this.#count = Math.max(1, aged.filter(({ ageMs }) => ageMs < GONE_AFTER_MS).length);
    const forgotten = aged.filter(({ ageMs }) => ageMs >= FORGET_AFTER_MS).map(({ id }) => id);
    if (forgotten.length > 0) await this.#rows.remove({ id: { in: forgotten } });
  }

  async #updateSafely(): Promise<void> {
    try {
      await this.update();
    } catch (err) {
      this.#logFailure(err);
    }
  }

  #logFailure(err: unknown): void {
    this.parts.log.warn({ err }, 'the processes of this store could not be counted; limits stay unchanged');
  }
}
