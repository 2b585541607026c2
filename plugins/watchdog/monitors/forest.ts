/**
 * The hierarchy of many monitors, as much of it as fits a budget (contract 30, hierarchy and endpoints). Pure, and without
 * recursion: a chain may be deeper than the stack.
 */
export interface TreeItem {
  source: string;
  parent_source: string | null;
}

export interface Branch<T> {
  item: T;
  children: Branch<T>[];
  /** Children that did not fit. */
  more: number;
}

export class Forest<T extends TreeItem> {
  readonly #children = new Map<string, T[]>();
  /** Monitors without a known parent; then, of each cycle, the first by source. */
  readonly roots: readonly T[];
  /** Sources on a cycle of parents. */
  readonly cycling: ReadonlySet<string>;
  readonly size: number;
  readonly #known: ReadonlyMap<string, T>;

  /** @param items by source */
  constructor(items: readonly T[]) {
    this.size = items.length;
    const known = new Map(items.map((item) => [item.source, item]));
    this.#known = known;
    const roots: T[] = [];
    for (const item of items) {
      const parent = item.parent_source;
      if (parent === null || !known.has(parent)) roots.push(item);
      else {
        const siblings = this.#children.get(parent);
        if (siblings === undefined) this.#children.set(parent, [item]);
        else siblings.push(item);
      }
    }
    const reached = new Set<string>();
    for (const root of roots) this.#reach(root, reached);
    const circling = reached.size === items.length ? [] : items.filter(({ source }) => !reached.has(source));
    this.cycling = this.#cyclesOf(circling);
    for (const item of circling) {
      if (reached.has(item.source)) continue;
      roots.push(item);
      this.#reach(item, reached);
    }
    this.roots = roots;
  }

  has(source: string): boolean {
    return this.#known.has(source);
  }

  find(source: string): T | undefined {
    return this.#known.get(source);
  }

  childrenOf(source: string): readonly T[] {
    return this.#children.get(source) ?? [];
  }

  /** The branches of `tops`, level by level until `budget` monitors are placed, each once. */
  grow(tops: readonly T[], budget: number): { branches: Branch<T>[]; placed: number } {
    const placed = new Set<string>();
    const place = (item: T): Branch<T> | null => {
      if (placed.has(item.source) || placed.size >= budget) return null;
      placed.add(item.source);
      return { item, children: [], more: 0 };
    };
    const branches = tops.flatMap((top) => place(top) ?? []);
    const level = [...branches];
    for (let i = 0; i < level.length; i++) {
      const branch = level[i] as Branch<T>;
      for (const child of this.childrenOf(branch.item.source)) {
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

  /** Of monitors on cycles or below one: those on a cycle, by taking away again and again who has no children left. */
  #cyclesOf(circling: readonly T[]): ReadonlySet<string> {
    const on = new Set(circling.map(({ source }) => source));
    const parents = new Map(circling.map(({ source, parent_source }) => [source, parent_source]));
    const children = new Map(circling.map(({ source }) => [source, this.childrenOf(source).length]));
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

  #reach(root: T, reached: Set<string>): void {
    const level = [root];
    reached.add(root.source);
    for (const item of level) {
      for (const child of this.childrenOf(item.source)) {
        if (reached.has(child.source)) continue;
        reached.add(child.source);
        level.push(child);
      }
    }
  }
}

/** Branches as nested JSON. @param head the members of one, without braces */
export function treeJson<T>(branches: readonly Branch<T>[], head: (item: T) => string): string {
  let json = '';
  const open: { list: readonly Branch<T>[]; at: number }[] = [{ list: branches, at: 0 }];
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
