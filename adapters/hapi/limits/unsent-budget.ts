/**
 * Bytes of answers that are made and not yet taken by their readers, over all connections and for each address
 * (contract 40, asking). A new answer always gets room: what has not moved for longest gives way, first among its own
 * address's when that holds more than its share, then of the address with the most when the whole is used up. So
 * whoever opens hundreds of answers and reads none loses them, and who reads, however slowly, stands behind those who
 * do not.
 */

/**
 * An answer that moved within this time gives way only where the whole is used up: many quick readers may share an
 * address.
 */
const STALE_MS = 2_000;

interface Owner {
  readonly key: string;
  bytes: number;
  /** What moved longest ago comes first. */
  readonly leases: Set<UnsentLease>;
}

export class UnsentBudget {
  readonly #owners = new Map<string, Owner>();
  #held = 0;
  #cut = 0;

  /** @param share bytes that one address may hold when some of its answers do not move */
  constructor(
    readonly most: number,
    readonly share: number,
    readonly now: () => number = () => performance.now(),
  ) {}

  get held(): number {
    return this.#held;
  }

  /** Answers that gave way. */
  get cut(): number {
    return this.#cut;
  }

  /** Room for an answer. @param giveWay called when the answer loses it to another: its connection has to be cut */
  open(key: string, bytes: number, giveWay: () => void): UnsentLease {
    const owner = this.#owners.get(key) ?? { key, bytes: 0, leases: new Set() };
    this.#owners.set(key, owner);
    const lease = new UnsentLease(this, owner, bytes, giveWay);
    owner.leases.add(lease);
    owner.bytes += bytes;
    this.#held += bytes;
    const stale = this.now() - STALE_MS;
    while (owner.bytes > this.share && this.#giveWay(owner, lease, stale));
    while (this.#held > this.most && this.#giveWay(this.#largest(lease), lease, Infinity));
    return lease;
  }

  /** @internal */
  leave(lease: UnsentLease, owner: Owner, bytes: number): void {
    owner.leases.delete(lease);
    owner.bytes -= bytes;
    this.#held -= bytes;
    if (owner.leases.size === 0) this.#owners.delete(owner.key);
  }

  /** False: nothing of the owner's that last moved before `before` can give way. */
  #giveWay(owner: Owner | null, self: UnsentLease, before: number): boolean {
    const first = owner === null ? null : oldest(owner, self);
    if (first === null || first.movedAt > before) return false;
    this.#cut += 1;
    first.revoke();
    return true;
  }

  /** The address with the most bytes among those with an answer that can give way. */
  #largest(self: UnsentLease): Owner | null {
    let largest: Owner | null = null;
    for (const owner of this.#owners.values())
      if (owner.bytes > (largest?.bytes ?? 0) && oldest(owner, self) !== null) largest = owner;
    return largest;
  }
}

function oldest({ leases }: Owner, self: UnsentLease): UnsentLease | null {
  for (const lease of leases) if (lease !== self) return lease;
  return null;
}

/** One answer's part of the budget, from when it is made until its last byte is with the system. */
export class UnsentLease {
  movedAt: number;
  #open = true;

  /** @internal */
  constructor(
    private readonly budget: UnsentBudget,
    private readonly owner: Owner,
    private readonly bytes: number,
    private readonly giveWay: () => void,
  ) {
    this.movedAt = budget.now();
  }

  /** Its reader has taken something. */
  moved(): void {
    if (!this.#open) return;
    this.movedAt = this.budget.now();
    this.owner.leases.delete(this);
    this.owner.leases.add(this);
  }

  /** Takes its room away. */
  revoke(): void {
    this.close();
    this.giveWay();
  }

  /** Gives it back; again is nothing. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.budget.leave(this, this.owner, this.bytes);
  }
}
