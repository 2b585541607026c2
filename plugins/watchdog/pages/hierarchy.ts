/** /hierarchy */
import { View, type HttpRequest } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { WatchdogServices } from '../services.js';
import type { Branch, Forest } from '../monitors/forest.js';
import type { OutlineRow } from '../monitors/outline-row.js';
import { proposedOf } from './choices.js';
import { hrefOf } from './form.js';
import { linesOf } from './lines.js';

/** Roots on one page, and monitors on it; what is left out is a link away. */
const ROOTS = 100;
const SHOWN = 200;

interface Node {
  href: string;
  source: string;
  name: string;
  state: string;
  /** Since when it is down; null while it is not. */
  down_since: string | null;
  alarm: string;
  suppressed_by: string | null;
  maintenance_until: string | null;
  parent_source: string | null;
  missing_parent: string | null;
  cycle: boolean;
  /** Children that are not on this page, and the page that shows them. */
  more: number;
  more_href: string;
  children: Node[];
}

const branchHref = (source: string): string => `/hierarchy?below=${encodeURIComponent(source)}`;

export async function hierarchyView(services: WatchdogServices, request: HttpRequest, problem?: string): Promise<View> {
  const { below, after } = request.query as { below?: string; after?: string };
  const snapshot = await services.snapshots.outline();
  const forest = await snapshot.forest();
  const top = below === undefined ? null : (forest.find(below) ?? null);
  if (below !== undefined && top === null) throw notFound(`monitor ${below}`);
  const first = after === undefined ? 0 : forest.roots.findIndex(({ source }) => source === after) + 1;
  const tops = top === null ? forest.roots.slice(first, first + ROOTS) : [top];
  const { branches } = forest.grow(tops, SHOWN);
  const form = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const last = top === null && first + ROOTS < forest.roots.length ? tops.at(-1) : undefined;
  return new View('hierarchy', {
    live_topics: 'monitors',
    tree: linesOf(branches.map((branch) => nodeOf(branch, forest))),
    empty: forest.size === 0,
    proposals: proposedOf(snapshot.rows),
    problem,
    form,
    cycles: forest.cycling.size,
    ...(top !== null && {
      crumbs: [{ label: 'Hierarchy', href: '/hierarchy' }, { label: top.name }],
      up: top.parent_source !== null && forest.has(top.parent_source) ? branchHref(top.parent_source) : null,
    }),
    next: last === undefined ? null : `/hierarchy?after=${encodeURIComponent(last.source)}`,
  });
}

/** Without recursion, as deep as a chain may be. */
function nodeOf(root: Branch<OutlineRow>, forest: Forest<OutlineRow>): Node {
  const made = (branch: Branch<OutlineRow>): Node => {
    const { source, name, state, down_since, alarm, suppressed_by, maintenance_until, parent_source } = branch.item;
    return {
      href: hrefOf(source),
      source,
      name,
      state,
      down_since,
      alarm,
      suppressed_by,
      maintenance_until,
      parent_source,
      missing_parent: parent_source !== null && !forest.has(parent_source) ? parent_source : null,
      cycle: forest.cycling.has(source),
      more: branch.more,
      more_href: branchHref(source),
      children: [],
    };
  };
  const top = made(root);
  const open: [Branch<OutlineRow>, Node][] = [[root, top]];
  for (const [branch, node] of open) {
    for (const child of branch.children) {
      const under = made(child);
      node.children.push(under);
      open.push([child, under]);
    }
  }
  return top;
}
