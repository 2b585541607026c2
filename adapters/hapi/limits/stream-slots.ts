/**
 * When anonymous callers have used up theirs, the most idle download of the address with the most
 * is cut, but never the only one of an address.
 */
import { RequestsInFlight } from './requests-in-flight.js';

export class StreamSlots {
  readonly #all: RequestsInFlight;
  /** By address, each ordered by last progress. */
  readonly #downloads = new Map<string, Set<StreamSlot>>();

  constructor(most: number) {
    this.#all = new RequestsInFlight(most);
  }

  get count(): number {
    return this.#all.count;
  }

  /**
   * @param address of a caller without a credential
   * @returns null when no slot is free
   */
  acquire(address: string | null): StreamSlot | null {
    let place = this.#all.acquire(address);
    if (place === null && address !== null && this.#all.hasCapacity(address) && this.#makeRoom(address))
      place = this.#all.acquire(address);
    return place === null ? null : new StreamSlot(this, address, () => place.release());
  }

  #makeRoom(newcomer: string): boolean {
    let most: ReadonlySet<StreamSlot> = new Set();
    for (const own of this.#downloads.values()) if (own.size > most.size) most = own;
    // Evicts only if the newcomer does not end up with more downloads than the other address.
    if (most.size < (this.#downloads.get(newcomer)?.size ?? 0) + 2) return false;
    for (const stalest of most) {
      stalest.revoke();
      return true;
    }
    return false;
  }

  moveToEnd(place: StreamSlot, address: string): void {
    const own = this.#downloads.get(address) ?? new Set();
    this.#downloads.set(address, own);
    own.delete(place);
    own.add(place);
  }

  remove(place: StreamSlot, address: string): void {
    const own = this.#downloads.get(address);
    own?.delete(place);
    if (own?.size === 0) this.#downloads.delete(address);
  }
}

export class StreamSlot {
  #giveWay: (() => void) | null = null;
  #left = false;

  constructor(
    private readonly places: StreamSlots,
    private readonly address: string | null,
    private readonly free: () => void,
  ) {}

  allowEviction(cut: () => void): void {
    this.#giveWay = cut;
    this.markProgress();
  }

  markProgress(): void {
    if (!this.#left && this.#giveWay !== null && this.address !== null) this.places.moveToEnd(this, this.address);
  }

  revoke(): void {
    this.release();
    this.#giveWay?.();
  }

  release(): void {
    if (this.#left) return;
    this.#left = true;
    this.free();
    if (this.address !== null) this.places.remove(this, this.address);
  }
}
