import { View, type HttpRequest } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import type { WatchdogServices } from '../services.js';
import type { TreeBranch, MonitorForest, SubtreeCount } from '../monitors/monitor-forest.js';
import type { OutlineRow } from '../monitors/monitor-snapshot-service.js';
import { toParentChoices } from './form-choices.js';
import { getMonitorPageHref } from './monitor-form.js';
import { toTreeLines } from '../tree/tree-lines.js';

const MAX_ROOTS = 100;
const MAX_SHOWN_MONITORS = 200;
const MAX_UNFOLDED_MONITORS = 12;

export const HIERARCHY_FILTERS = ['problems', 'all'] as const;
type HierarchyFilter = (typeof HIERARCHY_FILTERS)[number];

const isTroubled = ({ state }: OutlineRow): boolean => state === 'down' || state === 'warning';

interface HierarchyNode {
  href: string;
  source: string;
  name: string;
  state: string;
  down_since: string | null;
  alarm: string;
  suppressed_by: string | null;
  maintenance_until: string | null;
  silenced_until: string | null;
  parent_source: string | null;
  missing_parent: string | null;
  cycle: boolean;
  more: number;
  more_href: string;
  below: number;
  troubled_below: number;
  /** Healthy, with hidden children. */
  folded: boolean;
  children: HierarchyNode[];
}

const buildHierarchyHref = (given: Record<string, string | undefined>): string => {
  const query = Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return query.length === 0 ? '/hierarchy' : `/hierarchy?${new URLSearchParams(query).toString()}`;
};

const getBranchHref = (source: string): string => `/hierarchy?below=${encodeURIComponent(source)}`;

export async function buildHierarchyView(
  services: WatchdogServices,
  request: HttpRequest,
  problem?: string,
): Promise<View> {
  const { below, after, show } = request.query as { below?: string; after?: string; show?: HierarchyFilter };
  const snapshot = await services.snapshots.getOutline();
  const forest = await snapshot.forest();
  const top = below === undefined ? null : (forest.find(below) ?? null);
  if (below !== undefined && top === null) throw notFound(`monitor ${below}`);
  const tallies = await forest.countSubtrees(isTroubled);
  const troubled = ({ source }: OutlineRow): boolean => (tallies.get(source)?.troubled ?? 0) > 0;
  const shows = show === 'problems' ? troubled : () => true;
  const folds = show === undefined && forest.size > MAX_UNFOLDED_MONITORS;
  const enters = (item: OutlineRow): boolean => !folds || item === top || troubled(item);
  const roots = forest.roots.filter(shows);
  const first = after === undefined ? 0 : roots.findIndex(({ source }) => source === after) + 1;
  const tops = top === null ? roots.slice(first, first + MAX_ROOTS) : [top];
  const { branches } = forest.buildBranches(tops, MAX_SHOWN_MONITORS, enters, shows);
  const form = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const last = top === null && first + MAX_ROOTS < roots.length ? tops.at(-1) : undefined;
  return new View('hierarchy', {
    live_topics: 'monitors',
    tree: toTreeLines(branches.map((branch) => toHierarchyNode(branch, forest, tallies, enters))),
    empty: forest.size === 0,
    all_well: forest.size > 0 && branches.length === 0,
    tabs: [
      { label: folds || forest.size > MAX_UNFOLDED_MONITORS ? 'Healthy branches folded' : 'All', show: undefined },
      { label: 'Problems only', show: 'problems' },
      ...(forest.size > MAX_UNFOLDED_MONITORS ? [{ label: 'All expanded', show: 'all' }] : []),
    ].map((tab) => ({
      label: tab.label,
      href: buildHierarchyHref({ below, show: tab.show }),
      active: tab.show === show,
    })),
    proposals: toParentChoices(snapshot.rows),
    problem,
    form,
    cycles: forest.cycling.size,
    ...(top !== null && {
      crumbs: [{ label: 'Hierarchy', href: '/hierarchy' }, { label: top.name }],
      up: top.parent_source !== null && forest.has(top.parent_source) ? getBranchHref(top.parent_source) : null,
    }),
    next: last === undefined ? null : buildHierarchyHref({ after: last.source, show }),
  });
}

/** A chain may be deeper than the call stack. */
function toHierarchyNode(
  root: TreeBranch<OutlineRow>,
  forest: MonitorForest<OutlineRow>,
  tallies: ReadonlyMap<string, SubtreeCount>,
  enters: (item: OutlineRow) => boolean,
): HierarchyNode {
  const made = (branch: TreeBranch<OutlineRow>): HierarchyNode => {
    const { source, name, state, down_since, alarm, suppressed_by, parent_source } = branch.item;
    const { maintenance_until, silenced_until } = branch.item;
    const { below, troubled } = tallies.get(source) ?? { below: 0, troubled: 0 };
    return {
      below,
      troubled_below: troubled - (isTroubled(branch.item) ? 1 : 0),
      folded: below > 0 && !enters(branch.item),
      href: getMonitorPageHref(source),
      source,
      name,
      state,
      down_since,
      alarm,
      suppressed_by,
      maintenance_until,
      silenced_until,
      parent_source,
      missing_parent: parent_source !== null && !forest.has(parent_source) ? parent_source : null,
      cycle: forest.cycling.has(source),
      more: branch.more,
      more_href: getBranchHref(source),
      children: [],
    };
  };
  const top = made(root);
  const open: [TreeBranch<OutlineRow>, HierarchyNode][] = [[root, top]];
  for (const [branch, node] of open) {
    for (const child of branch.children) {
      const under = made(child);
      node.children.push(under);
      open.push([child, under]);
    }
  }
  return top;
}
