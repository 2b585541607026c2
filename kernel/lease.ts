/**
 * A lease: one document that says which process may migrate. Held by renewing it; taken over when its holder has shown
 * no sign of life for `ttlMs`, measured by the waiter's own monotonic clock, because the clocks of two machines differ.
 * A crashed holder so costs the next start one `ttlMs`. Rejected: comparing the holder's time stamp with our clock.
 */
import type { Collection, Doc } from '../ports/store.js';
import { StoreConflict } from '../ports/store.js';

export interface LeaseDoc extends Doc {
  /** Null: free. */
  holder: string | null;
  /** Rises with every renewal. */
  beat: number;
  /** For people who look at the document; decides nothing. */
  renewed_at: string;
}

export interface LeaseOptions {
  id: string;
  /** This process; unique. */
  holder: string;
  ttlMs: number;
  iso: () => string;
  monotonic: () => number;
}

/** The lease was lost to another process while we held it: what follows must not happen here. */
export class LeaseLost extends Error {
  override name = 'LeaseLost';
}

export class Lease {
  #seen: { holder: string | null; beat: number; since: number } | null = null;
  #renewal: NodeJS.Timeout | undefined;

  constructor(
    private readonly leases: Collection<LeaseDoc>,
    private readonly options: LeaseOptions,
  ) {}

  /** Takes the lease if it is free or its holder is dead. Answers who holds it now; ours is true. */
  async take(): Promise<boolean> {
    const { id, holder, ttlMs, monotonic } = this.options;
    const current = await this.leases.get(id);
    if (current === null) return this.#insert();
    const free = current.holder === null;
    if (!free && !this.#dead(current, monotonic(), ttlMs)) return false;
    const won = await this.leases.change(
      { id, holder: current.holder, beat: current.beat },
      { set: { holder, renewed_at: this.options.iso() }, inc: { beat: 1 } },
    );
    if (won !== null) this.#keep();
    return won !== null;
  }

  /** Renews the lease, before each step that only its holder may take. @throws LeaseLost when another has it */
  async confirm(): Promise<void> {
    const { id, holder, iso } = this.options;
    const renewed = await this.leases.change({ id, holder }, { set: { renewed_at: iso() }, inc: { beat: 1 } });
    if (renewed === null) throw new LeaseLost(`the lease "${id}" was lost to another process`);
  }

  async release(): Promise<void> {
    clearInterval(this.#renewal);
    const { id, holder } = this.options;
    await this.leases.change({ id, holder }, { set: { holder: null }, inc: { beat: 1 } });
  }

  async #insert(): Promise<boolean> {
    const { id, holder, iso } = this.options;
    try {
      await this.leases.insert({ id, holder, beat: 1, renewed_at: iso() });
    } catch (error) {
      if (error instanceof StoreConflict) return false;
      throw error;
    }
    this.#keep();
    return true;
  }

  #dead({ holder, beat }: LeaseDoc, now: number, ttlMs: number): boolean {
    if (this.#seen?.holder === holder && this.#seen.beat === beat) return now - this.#seen.since >= ttlMs;
    this.#seen = { holder, beat, since: now };
    return false;
  }

  #keep(): void {
    // What goes wrong here goes wrong again in the next `confirm`, where somebody hears it.
    this.#renewal = setInterval(() => void this.confirm().catch(() => undefined), this.options.ttlMs / 4);
    this.#renewal.unref();
  }
}
