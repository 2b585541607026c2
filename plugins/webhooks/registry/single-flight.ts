/**
 * Reads that are shared and never stale: whoever asks gets a read that begins after the question. Under load there is one
 * read at a time, however many ask. Rejected: a cache with a lifetime, which would deliver to a webhook that another
 * process has just disabled.
 */
export class SingleFlight<T> {
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | null = null;

  constructor(private readonly load: () => Promise<T>) {}

  read(): Promise<T> {
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      const read = this.load();
      this.#running = read.catch(() => undefined);
      return read;
    });
    return this.#next;
  }
}
