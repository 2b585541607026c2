/**
 * Budget for bodies in memory, with a share per owner (token, session or address). A new body
 * always gets room: the oldest arriving body of its owner, or of the largest owner, is evicted. A
 * complete body never is.
 */

/**
 * Cost of an open body in addition to its bytes: socket, parser and buffers. It also bounds the
 * number of bodies.
 */
export const OPEN_COST = 16 * 1024;

interface Owner {
  readonly key: string;
  bytes: number;
  readonly arriving: Arriving;
}

export class BodyBudget {
  readonly #owners = new Map<string, Owner>();
  #held = 0;

  /** @param share bytes that one owner may hold */
  constructor(
    readonly most: number,
    readonly share: number,
  ) {}

  get held(): number {
    return this.#held;
  }

  /**
   * @param giveWay called when the body is evicted
   * @returns null when nothing can be evicted
   */
  open(key: string, giveWay: () => void): BodyLease | null {
    const lease = new BodyLease(giveWay);
    return lease.moveTo(this, key) ? lease : null;
  }

  /** @internal */
  enter(lease: BodyLease, key: string): Owner {
    const owner = this.#owners.get(key) ?? { key, bytes: 0, arriving: new Arriving() };
    this.#owners.set(key, owner);
    owner.arriving.add(lease);
    return owner;
  }

  /** @internal */
  leave(lease: BodyLease, owner: Owner, bytes: number): void {
    owner.arriving.delete(lease);
    this.add(owner, -bytes);
  }

  /** @internal */
  add(owner: Owner, bytes: number): void {
    owner.bytes += bytes;
    this.#held += bytes;
    if (owner.bytes === 0 && owner.arriving.size === 0) this.#owners.delete(owner.key);
  }

  makeRoom(owner: Owner, bytes: number, self: BodyLease): boolean {
    while (owner.bytes + bytes > this.share) if (!giveWay(owner, self)) return false;
    while (this.#held + bytes > this.most) if (!giveWay(this.#largest(self), self)) return false;
    return true;
  }

  #largest(self: BodyLease): Owner | null {
    let largest: Owner | null = null;
    for (const owner of this.#owners.values()) {
      const others = owner.arriving.size - (owner.arriving.has(self) ? 1 : 0);
      if (others > 0 && owner.bytes > (largest?.bytes ?? 0)) largest = owner;
    }
    return largest;
  }
}

function giveWay(owner: Owner | null, self: BodyLease): boolean {
  const oldest = owner?.arriving.oldest ?? null;
  const lease = oldest === self ? self.newer : oldest;
  lease?.revoke();
  return lease !== null;
}

/**
 * Bodies that are still arriving, oldest first. A linked list, because V8 reallocates a busy Set
 * again and again, and each old table keeps requests alive.
 */
class Arriving {
  #oldest: BodyLease | null = null;
  #newest: BodyLease | null = null;
  size = 0;

  get oldest(): BodyLease | null {
    return this.#oldest;
  }

  add(lease: BodyLease): void {
    lease.older = this.#newest;
    if (this.#newest === null) this.#oldest = lease;
    else this.#newest.newer = lease;
    this.#newest = lease;
    this.size += 1;
  }

  has(lease: BodyLease): boolean {
    return lease.older !== null || this.#oldest === lease;
  }

  delete(lease: BodyLease): void {
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

export class BodyLease {
  older: BodyLease | null = null;
  /** @internal */
  newer: BodyLease | null = null;
  #place: { budget: BodyBudget; owner: Owner } | null = null;
  #bytes = 0;

  constructor(private readonly giveWay: () => void) {}

  get bytes(): number {
    return this.#bytes;
  }

  take(bytes: number): boolean {
    const place = this.#place;
    if (place === null || !place.budget.makeRoom(place.owner, bytes, this)) return false;
    place.budget.add(place.owner, bytes);
    this.#bytes += bytes;
    return true;
  }

  give(bytes: number): void {
    if (this.#place === null) return;
    this.#place.budget.add(this.#place.owner, -bytes);
    this.#bytes -= bytes;
  }

  /**
   * Moves the reservation to another budget once the sender is verified; returns false when that
   * has no room.
   */
  moveTo(budget: BodyBudget, key: string): boolean {
    const bytes = Math.max(this.#bytes, OPEN_COST);
    this.close();
    this.#place = { budget, owner: budget.enter(this, key) };
    if (this.take(bytes)) return true;
    this.close();
    return false;
  }

  /** Marks the body as complete: it can no longer be evicted. */
  arrived(): void {
    this.#place?.owner.arriving.delete(this);
  }

  revoke(): void {
    this.close();
    this.giveWay();
  }

  close(): void {
    const place = this.#place;
    if (place === null) return;
    const bytes = this.#bytes;
    this.#place = null;
    this.#bytes = 0;
    place.budget.leave(this, place.owner, bytes);
  }
}
