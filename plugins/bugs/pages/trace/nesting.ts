/**
 * The exceptions of a trace as they nest: what caused one stands inside it, and so do the members of a group. The text
 * says it by its words, its bars (Python) and its indent (Java, Node); all of it came from outside, so depth is
 * bounded. Pure, linear.
 */
import type { Row } from './folds.js';

/**
 * How a part belongs to those before it. `outer`: those before caused it. `member`: of the group that is less far to
 * the right. `wrapper`: it was put around the whole.
 */
export type Joins = 'cause' | 'outer' | 'member' | 'wrapper';

export interface TracePart {
  /** The part's relation to the one before: `Caused by`. */
  relation: string | null;
  /** Null: it begins anew. */
  joins: Joins | null;
  /** How far to the right it stands; only compared. */
  level: number;
  title: string;
  rows: Row[];
}

export interface TraceNode {
  /** To the one that it lies in. */
  relation: string | null;
  title: string;
  rows: Row[];
  inner: TraceNode[];
}

/** Deeper ones stand beside the last. */
const DEEPEST = 12;

interface Open {
  node: TraceNode;
  level: number;
  /** How deep what lies in it reaches. */
  reach: number;
}

/** @param parts in the text's order */
export function nested(parts: readonly TracePart[]): TraceNode[] {
  const roots: TraceNode[] = [];
  /** From a root to the newest. */
  const path: Open[] = [];
  for (const { joins, level, relation, title, rows } of parts) {
    const node: TraceNode = { relation, title, rows, inner: [] };
    if (joins === null || path.length === 0) {
      path.length = 0;
      const root = { ...node, relation: null };
      roots.push(root);
      path.push({ node: root, level: 0, reach: 0 });
    } else if (joins === 'outer') around(node, path, level, roots);
    else inside(node, path, level, joins);
  }
  return roots;
}

/** Puts the node around the one that stands on its level. */
function around(node: TraceNode, path: Open[], level: number, roots: TraceNode[]): void {
  const found = path.findIndex((open) => open.level >= level);
  const at = found < 0 ? path.length - 1 : found;
  const before = path[at];
  if (before === undefined) return;
  const among = path[at - 1]?.node.inner ?? roots;
  const role = before.node.relation;
  before.node.relation = node.relation;
  node.relation = role;
  among[among.length - 1] = node;
  let reach = before.reach + 1;
  if (at + reach < DEEPEST) node.inner.push(before.node);
  else {
    // What has no room inside stands beside.
    node.inner = before.node.inner;
    before.node.inner = [];
    node.inner.unshift(before.node);
    reach = before.reach;
  }
  path.length = at;
  path.push({ node, level: before.level, reach });
}

/** Puts the node into the one that it belongs to. */
function inside(node: TraceNode, path: Open[], level: number, joins: Joins): void {
  if (joins === 'wrapper') path.length = 1;
  // A cause on the same level belongs to the one before; a member there is its sibling.
  else while (path.length > 1 && (path.at(-1)?.level ?? 0) >= (joins === 'cause' ? level + 1 : level)) path.pop();
  if (path.length > DEEPEST) path.length = DEEPEST;
  path.at(-1)?.node.inner.push(node);
  path.forEach((open, i) => (open.reach = Math.max(open.reach, path.length - i)));
  path.push({ node, level, reach: 0 });
}
