/**
 * Bytes of answers that are made and not yet taken by their readers, over all connections and for each address
 * (contract 40, asking). A new answer always gets room: the answer that has not moved for longest gives way. It is one
 * of the same address when this address holds more than its share, or one of the address with the most when the whole
 * budget is used up. So readers that open hundreds of answers and read none lose them, and a reader that reads, however
 * slowly, stands behind those that do not.
 */

/**
 * An answer that moved within this time gives way only where the whole is used up: many quick readers may share an
 * address.
 */
const STALE_MS = 2_000;

interface Owner {
  readonly key: string;
  bytes: number;
  /** Answers of the owner; the one that moved longest ago comes first. */
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

  /** How many answers gave way. */
  get cut(): number {
    return this.#cut;
  }

  /** Room for an answer. @param giveWay called when the answer loses its room to another: its connection must be cut */
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

  /** Cuts one answer that last moved before `before`; false when the owner has none that can give way. */
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

/** One answer's part of the budget, from its making until its last byte is with the system. */
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

  /** Notes that the reader has taken something. */
  moved(): void {
    if (!this.#open) return;
    this.movedAt = this.budget.now();
    this.owner.leases.delete(this);
    this.owner.leases.add(this);
  }

  /** Takes the answer's room away. */
  revoke(): void {
    this.close();
    this.giveWay();
  }

  /** Gives the room back. A second call does nothing. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.budget.leave(this, this.owner, this.bytes);
  }
}
