/**
 * Slots of concurrent requests. Anonymous callers share a part of them, and each address a part of
 * that, so they never block verified callers (contract 00, limits).
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
    setMaxListeners(0, this.#ending.signal);
    this.#mostAnonymous = Math.ceil(most / 4);
    this.#mostPerAddress = Math.ceil(most / 16);
  }

  /** Long-polling requests then answer. */
  get stopSignal(): AbortSignal {
    return this.#ending.signal;
  }

  stop(): void {
    this.stopping = true;
    this.#ending.abort();
  }

  /**
   * @param address of a caller without a credential
   * @returns null when no slot is free
   */
  acquire(address: string | null): RequestSlot | null {
    if (this.count >= this.most) return null;
    if (address === null) return this.acquireUnlimited(null);
    if (this.#anonymousCount >= this.#mostAnonymous || !this.hasCapacity(address)) return null;
    return this.acquireUnlimited(address);
  }

  hasCapacity(address: string): boolean {
    return (this.#anonymous.get(address) ?? 0) < this.#mostPerAddress;
  }

  acquireUnlimited(address: string | null): RequestSlot {
    const place = new RequestSlot(this, address);
    place.resume();
    return place;
  }

  adjustCount(address: string | null, n: 1 | -1): void {
    this.count += n;
    if (address === null) return;
    this.#anonymousCount += n;
    const held = (this.#anonymous.get(address) ?? 0) + n;
    if (held === 0) this.#anonymous.delete(address);
    else this.#anonymous.set(address, held);
  }
}

export class RequestSlot {
  #isHeld = false;

  constructor(
    private readonly inFlight: RequestsInFlight,
    private readonly address: string | null,
  ) {}

  release(): void {
    if (this.#isHeld) this.inFlight.adjustCount(this.address, -1);
    this.#isHeld = false;
  }

  resume(): void {
    if (!this.#isHeld) this.inFlight.adjustCount(this.address, 1);
    this.#isHeld = true;
  }
}
