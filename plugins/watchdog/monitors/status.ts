/** Monitors as they are now: the paged list, the whole status, the tree (contract 30, endpoints). */
import { inject, injectable } from '../../../kernel/contract.js';
import { all } from '../../../lib/paging.js';
import type { MonitorState, MonitorView } from '../../../ports/domain/watchdog.js';
import type { Filter } from '../../../ports/store.js';
import { mayReport, type Caller } from '../caller.js';
import { DEPS, type Deps } from '../deps.js';
import { STATES, type MonitorDoc } from '../model.js';
import { viewOf } from './monitor.js';
import { Runs } from '../evaluator/runs.js';

const PAGE = 500;

export interface MonitorQuery {
  source?: readonly string[];
  state?: readonly MonitorState[];
  parent?: string;
  project?: string;
  alarm?: string;
  q?: string;
}

export interface Branch {
  source: string;
  state: MonitorState;
  children: Branch[];
}

/** Roots are monitors without a (known) parent; of a cycle the first by name, and each monitor stands once. Pure. */
export function treeOf<T extends { source: string; parent_source: string | null }, B>(
  all: readonly T[],
  branch: (monitor: T, children: B[]) => B,
): B[] {
  const sorted = [...all].sort((a, b) => (a.source < b.source ? -1 : 1));
  const known = new Set(sorted.map(({ source }) => source));
  const children = new Map<string, T[]>();
  for (const monitor of sorted) {
    const parent = monitor.parent_source;
    if (parent !== null && known.has(parent)) children.set(parent, [...(children.get(parent) ?? []), monitor]);
  }
  const placed = new Set<string>();
  const grow = (root: T): B => {
    // Without recursion: a chain may be deeper than the stack.
    placed.add(root.source);
    const order: { monitor: T; parent: number }[] = [{ monitor: root, parent: -1 }];
    for (let i = 0; i < order.length; i++) {
      for (const child of children.get(order[i]!.monitor.source) ?? []) {
        if (placed.has(child.source)) continue;
        placed.add(child.source);
        order.push({ monitor: child, parent: i });
      }
    }
    const grown: B[][] = order.map(() => []);
    for (let i = order.length - 1; i > 0; i--) {
      const { monitor, parent } = order[i]!;
      grown[parent]!.unshift(branch(monitor, grown[i]!));
    }
    return branch(root, grown[0]!);
  };
  const isRoot = ({ parent_source }: T): boolean => parent_source === null || !known.has(parent_source);
  const roots = sorted.filter(isRoot).map(grow);
  return [...roots, ...sorted.flatMap((monitor) => (placed.has(monitor.source) ? [] : [grow(monitor)]))];
}

@injectable()
export class Status {
  constructor(
    @inject(DEPS) private readonly deps: Deps,
    @inject(Runs) private readonly runs: Runs,
  ) {}

  /** @throws ServiceError source_mismatch */
  filter(query: MonitorQuery, caller: Caller): Filter {
    for (const source of query.source ?? []) mayReport(caller, source);
    const filter: Filter = { deleted_at: null };
    const sources = query.source ?? (caller.source === null ? undefined : [caller.source]);
    if (sources !== undefined) filter['source'] = { in: sources };
    if (query.state !== undefined) filter['state'] = { in: query.state };
    if (query.parent !== undefined) filter['parent_source'] = query.parent;
    const project = caller.project ?? query.project;
    if (project !== undefined) filter['project'] = project;
    if (query.alarm !== undefined) filter['alarm'] = query.alarm;
    if (query.q) filter['or'] = [{ source: { contains: query.q } }, { name: { contains: query.q } }];
    return filter;
  }

  /** By source. */
  async page(
    query: MonitorQuery & { limit?: number; cursor?: string; include_total?: boolean },
    caller: Caller,
  ): Promise<{ docs: MonitorDoc[]; next: string | null; total: number | undefined }> {
    const filter = this.filter(query, caller);
    const { monitors } = this.deps;
    const page = await monitors.find({
      filter,
      sort: [['source', 'asc']],
      limit: query.limit ?? 50,
      after: query.cursor ?? null,
    });
    const total = query.include_total === true ? await monitors.count(filter) : undefined;
    return { docs: page.items, next: page.next, total };
  }

  /** Every monitor that fits, by source. */
  all(query: MonitorQuery, caller: Caller): Promise<MonitorDoc[]> {
    return all(this.deps.monitors, { filter: this.filter(query, caller), sort: [['source', 'asc']], limit: PAGE });
  }

  async status(query: MonitorQuery & { tree?: boolean }, caller: Caller): Promise<object> {
    const docs = await this.all(query, caller);
    const monitors: MonitorView[] = docs.map(viewOf);
    const health = await this.runs.health();
    const branch = ({ source, state }: MonitorView, children: Branch[]): Branch => ({ source, state, children });
    return {
      generated_at: this.deps.clock.iso(),
      stale: !health.ok,
      counts: countsOf(monitors),
      monitors,
      ...(query.tree && { tree: treeOf(monitors, branch) }),
    };
  }

  /** How many are in each state, of all. */
  async counts(): Promise<Record<MonitorState, number>> {
    const groups = await this.deps.monitors.groupCount('state');
    const counts = countsOf([]);
    for (const { key, n } of groups) counts[key as MonitorState] = n;
    return counts;
  }
}

function countsOf(monitors: readonly { state: MonitorState }[]): Record<MonitorState, number> {
  const counts = Object.fromEntries(STATES.map((state) => [state, 0])) as Record<MonitorState, number>;
  for (const { state } of monitors) counts[state]++;
  return counts;
}
