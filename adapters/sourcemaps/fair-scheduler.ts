/**
 * Schedules jobs fairly: owners take turns, and an owner that has used its CPU time of a minute
 * waits for the next.
 */
import { SourceMapRejected } from '../../ports/source-map-reader.js';
import { UPLOAD_LIMITS } from './limits.js';

const MINUTE_MS = 60_000;

interface OwnerQueue {
  waiting: (() => void)[];
  usedMs: number;
  since: number;
}

export class FairScheduler {
  readonly #owners = new Map<string, OwnerQueue>();
  #busy = false;

  /** @param now monotonic milliseconds */
  constructor(
    private readonly now: () => number,
    private readonly shareMs: number = UPLOAD_LIMITS.shareMs,
  ) {}

  /**
   * Exclusive; `work` reports the CPU time used.
   * @throws MapRefused when the owner's share is used up; errors of `work`
   */
  async run<T>(name: string, work: (charge: (usedMs: number) => void) => Promise<T>): Promise<T> {
    const owner = this.#getOwner(name);
    if (owner.usedMs >= this.shareMs || owner.waiting.length >= UPLOAD_LIMITS.waiting) {
      throw new SourceMapRejected('exceeds the number of concurrent maps of its project', false);
    }
    if (this.#busy) await new Promise<void>((resolve) => owner.waiting.push(resolve));
    this.#busy = true;
    try {
      return await work((usedMs) => (owner.usedMs += usedMs));
    } finally {
      this.#startNext();
    }
  }

  #getOwner(name: string): OwnerQueue {
    const now = this.now();
    const found = this.#owners.get(name);
    if (found !== undefined) {
      if (now - found.since >= MINUTE_MS) Object.assign(found, { usedMs: 0, since: now });
      return found;
    }
    for (const [other, { waiting, since }] of this.#owners) {
      if (waiting.length === 0 && now - since >= MINUTE_MS) this.#owners.delete(other);
    }
    const owner = { waiting: [], usedMs: 0, since: now };
    this.#owners.set(name, owner);
    return owner;
  }

  #startNext(): void {
    this.#busy = false;
    for (const [name, owner] of this.#owners) {
      const go = owner.waiting.shift();
      if (go === undefined) continue;
      this.#owners.delete(name);
      this.#owners.set(name, owner);
      this.#busy = true;
      go();
      return;
    }
  }
}
