interface TreeNodeWithChildren<T> {
  children: readonly T[];
}

export interface TreeLine<T> {
  node: T;
  opens: boolean;
  closes: number[];
}

/** A recursive template would overflow the stack on a deep chain. */
export function toTreeLines<T extends TreeNodeWithChildren<T>>(tree: readonly T[]): TreeLine<T>[] {
  const lines: TreeLine<T>[] = [];
  const stack: { node: T; ends: number }[] = tree.toReversed().map((node) => ({ node, ends: 0 }));
  while (stack.length > 0) {
    const { node, ends } = stack.pop() as { node: T; ends: number };
    const { children } = node;
    const opens = children.length > 0;
    lines.push({ node, opens, closes: opens ? [] : Array.from({ length: ends }, (_, i) => i) });
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push({ node: children[i] as T, ends: i === children.length - 1 ? ends + 1 : 0 });
    }
  }
  return lines;
}
