/**
 * What was made lately, by a text: at least the last `most`, at most twice as many; what is asked for stays. Two maps
 * that take turns: an order by use (bounded-map.ts) would cost several times as much with each question.
 */
export class RecentMap<V extends {}> {
  #newer = new Map<string, V>();
  #older = new Map<string, V>();

  constructor(private readonly most: number) {}

  get(key: string): V | undefined {
    const value = this.#newer.get(key);
    if (value !== undefined) return value;
    const older = this.#older.get(key);
    if (older !== undefined) this.set(key, older);
    return older;
  }

  set(key: string, value: V): void {
    if (this.#newer.size >= this.most && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }
}
