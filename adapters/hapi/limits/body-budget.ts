/**
 * Budget for bodies in memory, with a share per owner (token, session or address). A new body
 * always gets room: the oldest arriving body of its owner, or of the largest owner, is evicted. A
 * complete body never is.
 */

/** Cost of an open body in addition to its bytes: socket, parser and buffers. */
export const OPEN_BODY_BYTES = 16 * 1024;

interface BudgetOwner {
  readonly key: string;
  bytes: number;
  readonly arriving: ArrivingBodies;
}

export class BodyBudget {
  readonly #owners = new Map<string, BudgetOwner>();
  #held = 0;

  constructor(
    readonly most: number,
    readonly share: number,
  ) {}

  get heldBytes(): number {
    return this.#held;
  }

  /** @returns null when nothing can be evicted */
  open(key: string, giveWay: () => void): BodyReservation | null {
    const lease = new BodyReservation(giveWay);
    return lease.moveTo(this, key) ? lease : null;
  }

  register(lease: BodyReservation, key: string): BudgetOwner {
    const owner = this.#owners.get(key) ?? { key, bytes: 0, arriving: new ArrivingBodies() };
    this.#owners.set(key, owner);
    owner.arriving.add(lease);
    return owner;
  }

  unregister(lease: BodyReservation, owner: BudgetOwner, bytes: number): void {
    owner.arriving.delete(lease);
    this.add(owner, -bytes);
  }

  add(owner: BudgetOwner, bytes: number): void {
    owner.bytes += bytes;
    this.#held += bytes;
    if (owner.bytes === 0 && owner.arriving.size === 0) this.#owners.delete(owner.key);
  }

  makeRoom(owner: BudgetOwner, bytes: number, self: BodyReservation): boolean {
    while (owner.bytes + bytes > this.share) if (!evictOldest(owner, self)) return false;
    while (this.#held + bytes > this.most) if (!evictOldest(this.#findLargestOwner(self), self)) return false;
    return true;
  }

  #findLargestOwner(self: BodyReservation): BudgetOwner | null {
    let largest: BudgetOwner | null = null;
    for (const owner of this.#owners.values()) {
      const others = owner.arriving.size - (owner.arriving.has(self) ? 1 : 0);
      if (others > 0 && owner.bytes > (largest?.bytes ?? 0)) largest = owner;
    }
    return largest;
  }
}

function evictOldest(owner: BudgetOwner | null, self: BodyReservation): boolean {
  const oldest = owner?.arriving.oldest ?? null;
  const lease = oldest === self ? self.newer : oldest;
  lease?.revoke();
  return lease !== null;
}

/**
 * Oldest first. A linked list, because V8 reallocates a busy Set again and again, and each old
 * table keeps requests alive.
 */
class ArrivingBodies {
  #oldest: BodyReservation | null = null;
  #newest: BodyReservation | null = null;
  size = 0;

  get oldest(): BodyReservation | null {
    return this.#oldest;
  }

  add(lease: BodyReservation): void {
    lease.older = this.#newest;
    if (this.#newest === null) this.#oldest = lease;
    else this.#newest.newer = lease;
    this.#newest = lease;
    this.size += 1;
  }

  has(lease: BodyReservation): boolean {
    return lease.older !== null || this.#oldest === lease;
  }

  delete(lease: BodyReservation): void {
    if (!this.has(lease)) return;
    const { older, newer } = lease;
    if (older === null) this.#oldest = newer;
    else older.newer = newer;
    if (newer === null) this.#newest = older;
    else newer.older = older;
    lease.older = null;
    lease.newer = null;
    this.size -= 1;
  }
}

export class BodyReservation {
  older: BodyReservation | null = null;
  newer: BodyReservation | null = null;
  #place: { budget: BodyBudget; owner: BudgetOwner } | null = null;
  #bytes = 0;

  constructor(private readonly giveWay: () => void) {}

  get bytes(): number {
    return this.#bytes;
  }

  grow(bytes: number): boolean {
    const place = this.#place;
    if (place === null || !place.budget.makeRoom(place.owner, bytes, this)) return false;
    place.budget.add(place.owner, bytes);
    this.#bytes += bytes;
    return true;
  }

  shrink(bytes: number): void {
    if (this.#place === null) return;
    this.#place.budget.add(this.#place.owner, -bytes);
    this.#bytes -= bytes;
  }

  /** False when the other budget has no room. */
  moveTo(budget: BodyBudget, key: string): boolean {
    const bytes = Math.max(this.#bytes, OPEN_BODY_BYTES);
    this.release();
    this.#place = { budget, owner: budget.register(this, key) };
    if (this.grow(bytes)) return true;
    this.release();
    return false;
  }

  markArrived(): void {
    this.#place?.owner.arriving.delete(this);
  }

  revoke(): void {
    this.release();
    this.giveWay();
  }

  release(): void {
    const place = this.#place;
    if (place === null) return;
    const bytes = this.#bytes;
    this.#place = null;
    this.#bytes = 0;
    place.budget.unregister(this, place.owner, bytes);
  }
}
