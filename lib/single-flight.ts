/**
 * One call at a time per key, shared by all who ask. Own code: memoizing libraries share the call under way, but none
 * offers an answer that is sure to be younger than the question.
 */

interface Flight<T> {
  running: Promise<T>;
  next: Promise<T> | null;
}

export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /** The call under way for `key`, or a new one: its answer may be of a moment before the question. */
  share(key: string, call: () => Promise<T>): Promise<T> {
    return this.#flights.get(key)?.running ?? this.#start(key, call);
  }

  /** A call that begins after this question. All who ask while one runs share the next one. */
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
