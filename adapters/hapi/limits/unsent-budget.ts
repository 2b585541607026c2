/**
 * A new response always gets room (contract 40, asking): the most stalled one of an address over
 * its share, or of the largest address, is cut.
 */

/** Fast readers may share an address. */
const STALLED_AFTER_MS = 2_000;

interface BudgetOwner {
  readonly key: string;
  bytes: number;
  readonly leases: Set<UnsentReservation>;
}

export class UnsentBudget {
  readonly #owners = new Map<string, BudgetOwner>();
  #held = 0;
  #cut = 0;

  constructor(
    readonly most: number,
    readonly share: number,
    readonly now: () => number = () => performance.now(),
  ) {}

  get heldBytes(): number {
    return this.#held;
  }

  get evictedCount(): number {
    return this.#cut;
  }

  /** @param giveWay must cut the connection */
  open(key: string, bytes: number, giveWay: () => void): UnsentReservation {
    const owner = this.#owners.get(key) ?? { key, bytes: 0, leases: new Set() };
    this.#owners.set(key, owner);
    const lease = new UnsentReservation(this, owner, bytes, giveWay);
    owner.leases.add(lease);
    owner.bytes += bytes;
    this.#held += bytes;
    const stale = this.now() - STALLED_AFTER_MS;
    while (owner.bytes > this.share && this.#evict(owner, lease, stale));
    while (this.#held > this.most && this.#evict(this.#findLargestOwner(lease), lease, Infinity));
    return lease;
  }

  unregister(lease: UnsentReservation, owner: BudgetOwner, bytes: number): void {
    owner.leases.delete(lease);
    owner.bytes -= bytes;
    this.#held -= bytes;
    if (owner.leases.size === 0) this.#owners.delete(owner.key);
  }

  #evict(owner: BudgetOwner | null, self: UnsentReservation, before: number): boolean {
    const first = owner === null ? null : findOldest(owner, self);
    if (first === null || first.movedAt > before) return false;
    this.#cut += 1;
    first.revoke();
    return true;
  }

  #findLargestOwner(self: UnsentReservation): BudgetOwner | null {
    let largest: BudgetOwner | null = null;
    for (const owner of this.#owners.values())
      if (owner.bytes > (largest?.bytes ?? 0) && findOldest(owner, self) !== null) largest = owner;
    return largest;
  }
}

function findOldest({ leases }: BudgetOwner, self: UnsentReservation): UnsentReservation | null {
  for (const lease of leases) if (lease !== self) return lease;
  return null;
}

export class UnsentReservation {
  movedAt: number;
  #open = true;

  constructor(
    private readonly budget: UnsentBudget,
    private readonly owner: BudgetOwner,
    private readonly bytes: number,
    private readonly giveWay: () => void,
  ) {
    this.movedAt = budget.now();
  }

  markProgress(): void {
    if (!this.#open) return;
    this.movedAt = this.budget.now();
    this.owner.leases.delete(this);
    this.owner.leases.add(this);
  }

  revoke(): void {
    this.release();
    this.giveWay();
  }

  release(): void {
    if (!this.#open) return;
    this.#open = false;
    this.budget.unregister(this, this.owner, this.bytes);
  }
}
