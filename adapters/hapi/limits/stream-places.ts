/**
 * Slots for streams (files, uploads, events). When anonymous callers have used up theirs, the most
 * idle download of the address with the most is cut, but never the only one of an address.
 */
import { RequestsInFlight } from './in-flight.js';

export class StreamPlaces {
  readonly #all: RequestsInFlight;
  /** Anonymous downloads that can be cut, by address, each set ordered by last progress. */
  readonly #downloads = new Map<string, Set<StreamPlace>>();

  constructor(most: number) {
    this.#all = new RequestsInFlight(most);
  }

  get count(): number {
    return this.#all.count;
  }

  /**
   * @param address of a caller without a credential, else null
   * @returns null when no slot is free
   */
  enter(address: string | null): StreamPlace | null {
    let place = this.#all.enter(address);
    if (place === null && address !== null && this.#all.mayHold(address) && this.#makeRoom(address))
      place = this.#all.enter(address);
    return place === null ? null : new StreamPlace(this, address, () => place.leave());
  }

  #makeRoom(newcomer: string): boolean {
    let most: ReadonlySet<StreamPlace> = new Set();
    for (const own of this.#downloads.values()) if (own.size > most.size) most = own;
    // Evicts only if the newcomer does not end up with more downloads than the other address.
    if (most.size < (this.#downloads.get(newcomer)?.size ?? 0) + 2) return false;
    for (const stalest of most) {
      stalest.revoke();
      return true;
    }
    return false;
  }

  last(place: StreamPlace, address: string): void {
    const own = this.#downloads.get(address) ?? new Set();
    this.#downloads.set(address, own);
    own.delete(place);
    own.add(place);
  }

  /** @internal */
  gone(place: StreamPlace, address: string): void {
    const own = this.#downloads.get(address);
    own?.delete(place);
    if (own?.size === 0) this.#downloads.delete(address);
  }
}

export class StreamPlace {
  #giveWay: (() => void) | null = null;
  #left = false;

  /** @internal */
  constructor(
    private readonly places: StreamPlaces,
    private readonly address: string | null,
    private readonly free: () => void,
  ) {}

  mayGiveWay(cut: () => void): void {
    this.#giveWay = cut;
    this.moved();
  }

  moved(): void {
    if (!this.#left && this.#giveWay !== null && this.address !== null) this.places.last(this, this.address);
  }

  revoke(): void {
    this.leave();
    this.#giveWay?.();
  }

  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.free();
    if (this.address !== null) this.places.gone(this, this.address);
  }
}
