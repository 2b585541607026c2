/**
 * Places of streams (files, uploads, events). When callers without a credential have used up theirs, the address with
 * the most downloads gives up the one that moved longest ago to an address with fewer. So slow readers from a few
 * addresses never keep everybody else from the files. The only download of an address never gives way.
 */
import { RequestsInFlight } from './in-flight.js';

export class StreamPlaces {
  readonly #all: RequestsInFlight;
  /** Downloads of strangers that can be cut, by address; in each set the one that moved longest ago comes first. */
  readonly #downloads = new Map<string, Set<StreamPlace>>();

  constructor(most: number) {
    this.#all = new RequestsInFlight(most);
  }

  get count(): number {
    return this.#all.count;
  }

  /** A place; null when there is none. @param address of a caller without a credential, else null */
  enter(address: string | null): StreamPlace | null {
    let place = this.#all.enter(address);
    if (place === null && address !== null && this.#all.mayHold(address) && this.#makeRoom(address))
      place = this.#all.enter(address);
    return place === null ? null : new StreamPlace(this, address, () => place.leave());
  }

  #makeRoom(newcomer: string): boolean {
    let most: ReadonlySet<StreamPlace> = new Set();
    for (const own of this.#downloads.values()) if (own.size > most.size) most = own;
    // The newcomer, with one download more, must not have more than the other address with one less.
    if (most.size < (this.#downloads.get(newcomer)?.size ?? 0) + 2) return false;
    for (const stalest of most) {
      stalest.revoke();
      return true;
    }
    return false;
  }

  /** Moves a place behind all others of its address. @internal */
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

/** One stream's place. */
export class StreamPlace {
  #giveWay: (() => void) | null = null;
  #left = false;

  /** @internal */
  constructor(
    private readonly places: StreamPlaces,
    private readonly address: string | null,
    private readonly free: () => void,
  ) {}

  /** Allows this stream to be cut for another's sake from now on. */
  mayGiveWay(cut: () => void): void {
    this.#giveWay = cut;
    this.moved();
  }

  /** Notes that the reader has taken something. */
  moved(): void {
    if (!this.#left && this.#giveWay !== null && this.address !== null) this.places.last(this, this.address);
  }

  /** Takes the place away. @internal */
  revoke(): void {
    this.leave();
    this.#giveWay?.();
  }

  /** Gives the place back. A second call does nothing. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    this.free();
    if (this.address !== null) this.places.gone(this, this.address);
  }
}
