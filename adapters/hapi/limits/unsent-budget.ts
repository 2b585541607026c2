/**
 * Budget for unread responses, in total and per address (contract 40, asking). A new response
 * always gets room: the most stalled one of an address over its share, or of the largest address,
 * is cut.
 */

/**
 * A response with progress within this time is cut only when the total is used up, because fast
 * readers may share an address.
 */
const STALE_MS = 2_000;

interface Owner {
  readonly key: string;
  bytes: number;
  readonly leases: Set<UnsentLease>;
}

export class UnsentBudget {
  readonly #owners = new Map<string, Owner>();
  #held = 0;
  #cut = 0;

  /** @param share bytes that one address may hold when some of its responses are stalled */
  constructor(
    readonly most: number,
    readonly share: number,
    readonly now: () => number = () => performance.now(),
  ) {}

  get held(): number {
    return this.#held;
  }

  get cut(): number {
    return this.#cut;
  }

  /** @param giveWay called on eviction: its connection must be cut */
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

  #giveWay(owner: Owner | null, self: UnsentLease, before: number): boolean {
    const first = owner === null ? null : oldest(owner, self);
    if (first === null || first.movedAt > before) return false;
    this.#cut += 1;
    first.revoke();
    return true;
  }

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

  moved(): void {
    if (!this.#open) return;
    this.movedAt = this.budget.now();
    this.owner.leases.delete(this);
    this.owner.leases.add(this);
  }

  revoke(): void {
    this.close();
    this.giveWay();
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.budget.leave(this, this.owner, this.bytes);
  }
}
