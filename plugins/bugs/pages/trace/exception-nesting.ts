/** The untrusted text defines the nesting, so depth is bounded. */
import type { TraceRow } from './collapsed-frames.js';

/**
 * To the preceding parts: `outer` was caused by them, `member` belongs to the less indented group,
 * `wrapper` encloses all.
 */
export type PartRelation = 'cause' | 'outer' | 'member' | 'wrapper';

export interface TracePart {
  relation: string | null;
  /** Null starts a new tree. */
  joins: PartRelation | null;
  /** Indentation, used for comparison only. */
  level: number;
  title: string;
  rows: TraceRow[];
}

export interface TraceNode {
  relation: string | null;
  title: string;
  rows: TraceRow[];
  inner: TraceNode[];
}

const MAX_DEPTH = 12;

interface OpenNode {
  node: TraceNode;
  level: number;
  reach: number;
}

export function nestParts(parts: readonly TracePart[]): TraceNode[] {
  const roots: TraceNode[] = [];
  const path: OpenNode[] = [];
  for (const { joins, level, relation, title, rows } of parts) {
    const node: TraceNode = { relation, title, rows, inner: [] };
    if (joins === null || path.length === 0) {
      path.length = 0;
      const root = { ...node, relation: null };
      roots.push(root);
      path.push({ node: root, level: 0, reach: 0 });
    } else if (joins === 'outer') wrapNode(node, path, level, roots);
    else insertNode(node, path, level, joins);
  }
  return roots;
}

function wrapNode(node: TraceNode, path: OpenNode[], level: number, roots: TraceNode[]): void {
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
  if (at + reach < MAX_DEPTH) node.inner.push(before.node);
  else {
    // Too deep: becomes a sibling.
    node.inner = before.node.inner;
    before.node.inner = [];
    node.inner.unshift(before.node);
    reach = before.reach;
  }
  path.length = at;
  path.push({ node, level: before.level, reach });
}

function insertNode(node: TraceNode, path: OpenNode[], level: number, joins: PartRelation): void {
  if (joins === 'wrapper') path.length = 1;
  // A cause on the same level belongs to the node, a member is its sibling.
  else while (path.length > 1 && (path.at(-1)?.level ?? 0) >= (joins === 'cause' ? level + 1 : level)) path.pop();
  if (path.length > MAX_DEPTH) path.length = MAX_DEPTH;
  path.at(-1)?.node.inner.push(node);
  path.forEach((open, i) => (open.reach = Math.max(open.reach, path.length - i)));
  path.push({ node, level, reach: 0 });
}
