/** What this process saw lately, by key: bounded in number and in age. A miss is always right, so nothing depends on it. */
export class Recent<V> {
  readonly #entries = new Map<string, { value: V; until: number }>();

  /** @param ttlMs for how long a value may stand for the stored one. @param now monotonic milliseconds */
  constructor(
    private readonly max: number,
    private readonly ttlMs: number,
    private readonly now: () => number,
  ) {}

  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    return entry !== undefined && entry.until > this.now() ? entry.value : undefined;
  }

  /** The oldest goes when there is no room. */
  set(key: string, value: V): void {
    this.#entries.delete(key);
    if (this.#entries.size >= this.max) this.#entries.delete(this.#entries.keys().next().value as string);
    this.#entries.set(key, { value, until: this.now() + this.ttlMs });
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}
