/** Coalesces concurrent calls per key. */

interface Flight<T> {
  running: Promise<T>;
  next: Promise<T> | null;
}

export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** Returns the active call of `key` or starts one; it may have begun before this request. */
  share(key: string, call: () => Promise<T>): Promise<T> {
    return this.#flights.get(key)?.running ?? this.#start(key, call);
  }

  /** Returns a call that begins after this request; requests during one share the next. */
  fresh(key: string, call: () => Promise<T>): Promise<T> {
    const flight = this.#flights.get(key);
    if (flight === undefined) return this.#start(key, call);
    const again = (): Promise<T> => this.#start(key, call);
    flight.next ??= flight.running.then(again, again);
    return flight.next;
  }

  #start(key: string, call: () => Promise<T>): Promise<T> {
    const flight: Flight<T> = { running: call(), next: null };
    const land = (): void => {
      if (this.#flights.get(key) === flight && flight.next === null) this.#flights.delete(key);
    };
    this.#flights.set(key, flight);
    flight.running.then(land, land);
    return flight.running;
  }
}
