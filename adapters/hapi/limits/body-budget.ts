/**
 * Bytes of bodies that are held at once, with a share for each owner (a token, a session, an address). A newcomer
 * always gets room: when its owner's share is used up, the owner's oldest body that is still arriving gives way; when
 * the whole budget is used up, the oldest body of the owner with the most. So a caller that holds bodies back loses
 * them first, and no other caller waits. A body that has arrived whole is in use and never gives way.
 */

/** Cost of an open body beside its bytes: socket, parser and buffers. It bounds the number of bodies too. */
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

  /** A lease, or null when there is no room. @param giveWay called when the body loses its room to another */
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

  /** Makes room for `bytes` of an owner; false when nothing can give way. @internal */
  makeRoom(owner: Owner, bytes: number, self: BodyLease): boolean {
    while (owner.bytes + bytes > this.share) if (!giveWay(owner, self)) return false;
    while (this.#held + bytes > this.most) if (!giveWay(this.#largest(self), self)) return false;
    return true;
  }

  /** The owner with the most bytes among those with a body that can give way. */
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
 * Bodies that are still arriving, oldest first. A linked list and no Set: a Set that is filled and emptied all day is
 * laid out anew every few requests, and each old layout refers to the next, so the collector promotes all of them to
 * old objects, and whole requests with them.
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

  /** Removes a lease. A second call does nothing. */
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

/** One body's part of a budget, from its first byte until it is no longer needed. */
export class BodyLease {
  /** Its neighbours among its owner's arriving bodies. @internal */
  older: BodyLease | null = null;
  /** @internal */
  newer: BodyLease | null = null;
  #place: { budget: BodyBudget; owner: Owner } | null = null;
  #bytes = 0;

  constructor(private readonly giveWay: () => void) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes room for more bytes; false when there is none. */
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

  /** Moves the bytes to another budget once the sender is known; false when the other has no room. */
  moveTo(budget: BodyBudget, key: string): boolean {
    const bytes = Math.max(this.#bytes, OPEN_COST);
    this.close();
    this.#place = { budget, owner: budget.enter(this, key) };
    if (this.take(bytes)) return true;
    this.close();
    return false;
  }

  /** Marks the body as arrived: from here on it no longer gives way. */
  arrived(): void {
    this.#place?.owner.arriving.delete(this);
  }

  /** Takes the body's room away. */
  revoke(): void {
    this.close();
    this.giveWay();
  }

  /** Gives everything back. A second call does nothing. */
  close(): void {
    const place = this.#place;
    if (place === null) return;
    const bytes = this.#bytes;
    this.#place = null;
    this.#bytes = 0;
    place.budget.leave(this, place.owner, bytes);
  }
}
