/**
 * Requests at work. Callers without a credential have a part of the places, and each address a part of this part, so
 * they never fill the places of callers with a credential (contract 00, limits). A request whose body is still arriving
 * is not at work.
 */
import { setMaxListeners } from 'node:events';

export class RequestsInFlight {
  readonly #anonymous = new Map<string, number>();
  #anonymousCount = 0;
  count = 0;
  stopping = false;
  readonly #ending = new AbortController();
  readonly #mostAnonymous: number;
  readonly #mostPerAddress: number;

  constructor(readonly most: number) {
    // Each request that waits for something listens.
    setMaxListeners(0, this.#ending.signal);
    this.#mostAnonymous = Math.ceil(most / 4);
    this.#mostPerAddress = Math.ceil(most / 16);
  }

  /** Aborts when the service begins to stop: what only waits answers then. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** No request gets a place any more. */
  stop(): void {
    this.stopping = true;
    this.#ending.abort();
  }

  /** A place; null when there is none. @param address of a caller without a credential, else null */
  enter(address: string | null): RequestPlace | null {
    if (this.count >= this.most) return null;
    if (address === null) return this.admit(null);
    if (this.#anonymousCount >= this.#mostAnonymous || !this.mayHold(address)) return null;
    return this.admit(address);
  }

  /** Whether the address has not used up its part. */
  mayHold(address: string): boolean {
    return (this.#anonymous.get(address) ?? 0) < this.#mostPerAddress;
  }

  /** A place without a limit, for probes. */
  admit(address: string | null): RequestPlace {
    const place = new RequestPlace(this, address);
    place.resume();
    return place;
  }

  /** @internal */
  add(address: string | null, n: 1 | -1): void {
    this.count += n;
    if (address === null) return;
    this.#anonymousCount += n;
    const held = (this.#anonymous.get(address) ?? 0) + n;
    if (held === 0) this.#anonymous.delete(address);
    else this.#anonymous.set(address, held);
  }
}

/** One request's place. */
export class RequestPlace {
  #taken = false;

  constructor(
    private readonly inFlight: RequestsInFlight,
    private readonly address: string | null,
  ) {}

  /** Gives the place back, for good or while the body arrives. A second call does nothing. */
  leave(): void {
    if (this.#taken) this.inFlight.add(this.address, -1);
    this.#taken = false;
  }

  /**
   * Takes the place again after the body has arrived: a body that was read is worked at, however full the service is.
   */
  resume(): void {
    if (!this.#taken) this.inFlight.add(this.address, 1);
    this.#taken = true;
  }
}
