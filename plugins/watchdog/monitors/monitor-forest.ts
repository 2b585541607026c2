/**
 * Limited by a budget (contract 30, hierarchy and endpoints). Iterative, because a chain may be
 * deeper than the call stack.
 */
export interface TreeItem {
  source: string;
  parent_source: string | null;
}

const SLICE_MONITORS = 2_000;

function* sliceItems<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < items.length; i += SLICE_MONITORS) yield items.slice(i, i + SLICE_MONITORS);
}

export interface TreeBranch<T> {
  item: T;
  children: TreeBranch<T>[];
  more: number;
}

export interface SubtreeCount {
  below: number;
  /** Including itself. */
  troubled: number;
}

export class MonitorForest<T extends TreeItem> {
  cycling: ReadonlySet<string> = new Set();
  /** Without an existing parent, and the first by source of each cycle. */
  readonly roots: T[] = [];
  readonly #children = new Map<string, T[]>();
  readonly #known = new Map<string, T>();
  /** Cached, because a forest is immutable. */
  readonly #subtreeCounts = new Map<unknown, Promise<ReadonlyMap<string, SubtreeCount>>>();

  private constructor(private readonly pause: () => Promise<void>) {}

  /**
   * @param items by source
   * @param pause called between slices, to yield to the event loop
   */
  static async create<T extends TreeItem>(
    items: readonly T[],
    pause: () => Promise<void> = () => Promise.resolve(),
  ): Promise<MonitorForest<T>> {
    const forest = new MonitorForest<T>(pause);
    for (const slice of sliceItems(items)) {
      for (const item of slice) forest.#known.set(item.source, item);
      await pause();
    }
    for (const slice of sliceItems(items)) {
      for (const item of slice) forest.#addItem(item);
      await pause();
    }
    const reached = new Set<string>();
    await forest.#markReached([...forest.roots], reached);
    if (reached.size < items.length) await forest.#addCycleRoots(items, reached);
    return forest;
  }

  get size(): number {
    return this.#known.size;
  }

  has(source: string): boolean {
    return this.#known.has(source);
  }

  find(source: string): T | undefined {
    return this.#known.get(source);
  }

  getChildren(source: string): readonly T[] {
    return this.#children.get(source) ?? [];
  }

  /**
   * Counts the monitors below each one, and how many of these and itself are troubled.
   * @param troubled must be the same function object for the same predicate; it is the cache key
   */
  countSubtrees(troubled: (item: T) => boolean): Promise<ReadonlyMap<string, SubtreeCount>> {
    const known = this.#subtreeCounts.get(troubled);
    if (known !== undefined) return known;
    const counted = this.#computeSubtrees(troubled);
    this.#subtreeCounts.set(troubled, counted);
    return counted;
  }

  async #computeSubtrees(troubled: (item: T) => boolean): Promise<ReadonlyMap<string, SubtreeCount>> {
    const order: T[] = [...this.roots];
    const parents = new Map<string, string>();
    const reached = new Set(order.map(({ source }) => source));
    for (let i = 0; i < order.length; i++) {
      const { source } = order[i] as T;
      for (const child of this.getChildren(source)) {
        if (reached.has(child.source)) continue;
        reached.add(child.source);
        parents.set(child.source, source);
        order.push(child);
      }
      if (i % SLICE_MONITORS === SLICE_MONITORS - 1) await this.pause();
    }
    const tallies = new Map<string, SubtreeCount>();
    for (const item of order) tallies.set(item.source, { below: 0, troubled: troubled(item) ? 1 : 0 });
    // The reverse order is bottom-up.
    for (const [i, { source }] of order.toReversed().entries()) {
      const above = tallies.get(parents.get(source) ?? '');
      const own = tallies.get(source);
      if (above !== undefined && own !== undefined) {
        above.below += own.below + 1;
        above.troubled += own.troubled;
      }
      if (i % SLICE_MONITORS === SLICE_MONITORS - 1) await this.pause();
    }
    return tallies;
  }

  /**
   * Level by level until `budget` monitors are placed, each once.
   * @param enters false leaves out everything below
   */
  buildBranches(
    tops: readonly T[],
    budget: number,
    enters: (item: T) => boolean = () => true,
    shows: (item: T) => boolean = () => true,
  ): { branches: TreeBranch<T>[]; placed: number } {
    const placed = new Set<string>();
    const place = (item: T): TreeBranch<T> | null => {
      if (placed.has(item.source) || placed.size >= budget) return null;
      placed.add(item.source);
      return { item, children: [], more: 0 };
    };
    const branches = tops.flatMap((top) => place(top) ?? []);
    const level = [...branches];
    for (let i = 0; i < level.length; i++) {
      const branch = level[i] as TreeBranch<T>;
      if (!enters(branch.item)) continue;
      for (const child of this.getChildren(branch.item.source)) {
        if (!shows(child)) continue;
        const grown = place(child);
        if (grown === null) branch.more += placed.has(child.source) ? 0 : 1;
        else {
          branch.children.push(grown);
          level.push(grown);
        }
      }
    }
    return { branches, placed: placed.size };
  }

  #findCycles(circling: readonly T[]): ReadonlySet<string> {
    const on = new Set(circling.map(({ source }) => source));
    const parents = new Map(circling.map(({ source, parent_source }) => [source, parent_source]));
    const children = new Map(circling.map(({ source }) => [source, this.getChildren(source).length]));
    const leaves = circling.flatMap(({ source }) => (children.get(source) === 0 ? [source] : []));
    for (const leaf of leaves) {
      on.delete(leaf);
      const parent = parents.get(leaf) ?? '';
      const left = (children.get(parent) ?? 0) - 1;
      children.set(parent, left);
      if (left === 0) leaves.push(parent);
    }
    return on;
  }

  #addItem(item: T): void {
    const parent = item.parent_source;
    if (parent === null || !this.#known.has(parent)) this.roots.push(item);
    else {
      const siblings = this.#children.get(parent);
      if (siblings === undefined) this.#children.set(parent, [item]);
      else siblings.push(item);
    }
  }

  async #addCycleRoots(items: readonly T[], reached: Set<string>): Promise<void> {
    const circling = items.filter(({ source }) => !reached.has(source));
    this.cycling = this.#findCycles(circling);
    for (const item of circling) {
      if (reached.has(item.source)) continue;
      this.roots.push(item);
      await this.#markReached([item], reached);
    }
  }

  async #markReached(level: T[], reached: Set<string>): Promise<void> {
    for (const { source } of level) reached.add(source);
    for (let i = 0; i < level.length; i++) {
      for (const child of this.getChildren((level[i] as T).source)) {
        if (reached.has(child.source)) continue;
        reached.add(child.source);
        level.push(child);
      }
      if (i % SLICE_MONITORS === SLICE_MONITORS - 1) await this.pause();
    }
  }
}

export function formatTreeJson<T>(branches: readonly TreeBranch<T>[], head: (item: T) => string): string {
  let json = '';
  const open: { list: readonly TreeBranch<T>[]; at: number }[] = [{ list: branches, at: 0 }];
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const branch = top.list[top.at++];
    if (branch === undefined) {
      open.pop();
      if (open.length > 0) json += ']}';
      continue;
    }
    json += `${top.at > 1 ? ',' : ''}{${head(branch.item)},"children":[`;
    open.push({ list: branch.children, at: 0 });
  }
  return `[${json}]`;
}
