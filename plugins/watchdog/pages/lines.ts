/** A tree as one list of lines. */

interface Tree<T> {
  children: readonly T[];
}

export interface TreeLine<T> {
  node: T;
  /** A list of its children begins after it. */
  opens: boolean;
  /** One entry for each list that ends after it. */
  closes: number[];
}

/**
 * Before a line so many lists begin, after it so many end: a view that called itself would overflow its stack on a deep
 * chain.
 */
export function toTreeLines<T extends Tree<T>>(tree: readonly T[]): TreeLine<T>[] {
  const lines: TreeLine<T>[] = [];
  const stack: { node: T; ends: number }[] = tree.toReversed().map((node) => ({ node, ends: 0 }));
  while (stack.length > 0) {
    const { node, ends } = stack.pop() as { node: T; ends: number };
    const { children } = node;
    const opens = children.length > 0;
    lines.push({ node, opens, closes: opens ? [] : Array.from({ length: ends }, (_, i) => i) });
    // The last child closes its parent's list, and every list that its parent closes.
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push({ node: children[i] as T, ends: i === children.length - 1 ? ends + 1 : 0 });
    }
  }
  return lines;
}
