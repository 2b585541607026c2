/**
 * One at a time per key, within this process, in the order of asking. It spares writers of one document from losing
 * their compare-and-set to each other again and again; between processes the compare-and-set decides. Own code, because
 * the mutexes on offer have no keys, and a map of them must be emptied by hand.
 */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** Runs `work` when all earlier work of `key` has ended, well or badly. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#tails.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === mine) this.#tails.delete(key);
    }
  }
}
