/**
 * Loaded level by level, so that siblings share lookups (contract 30, hierarchy). Missing and
 * deleted parents count as none, a monitor on a cycle as parentless; chains deeper than 256 are
 * tolerated.
 */
import type { FindQuery, Collection } from '../../../ports/store/index.js';
import { CorruptionReporter } from '../../../ports/store/corruption-reporter.js';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { collectAll } from '../../../lib/paging.js';
import { DEPS } from '../deps.js';
import type { MonitorDoc } from '../model/documents.js';
import { getMonitorId } from '../model/monitor-id.js';
import type { Logger } from '../../../ports/logger.js';

export const MAX_TREE_DEPTH = 256;
const BATCH_SIZE = 500;

export type TreeNode = Pick<MonitorDoc, 'source' | 'parent_source'>;
export type TreeRelative = TreeNode & Pick<MonitorDoc, 'state' | 'left_down_at' | 'group'>;
export type TreeFamily = Map<string, TreeRelative | null>;

export function listAncestors(child: TreeNode, family: ReadonlyMap<string, TreeRelative | null>): TreeRelative[] {
  const chain: TreeRelative[] = [];
  const seen = new Set([child.source]);
  let parent = child.parent_source;
  while (parent !== null && chain.length < MAX_TREE_DEPTH) {
    // The child is on a cycle, or the ancestor is and has no parent.
    if (parent === child.source) return [];
    if (seen.has(parent)) return chain.slice(0, chain.findIndex(({ source }) => source === parent) + 1);
    const found = family.get(parent);
    if (!found) break;
    seen.add(parent);
    chain.push(found);
    parent = found.parent_source;
  }
  return chain;
}

@injectable()
export class AncestryLoader {
  readonly #damage: CorruptionReporter;

  constructor(
    @inject(DEPS.monitors) private readonly monitors: Collection<MonitorDoc>,
    @inject(DEPS.log) log: Logger,
  ) {
    this.#damage = new CorruptionReporter(log, 'a parent');
  }

  /** @param known newer than the store's; mutated */
  async loadAncestors(children: readonly TreeNode[], family: TreeFamily = new Map()): Promise<TreeFamily> {
    let wanted = new Set(children.flatMap(({ parent_source }) => parent_source ?? []));
    for (let depth = 0; wanted.size > 0 && depth < MAX_TREE_DEPTH; depth++) {
      const missing = [...wanted].filter((source) => !family.has(source));
      for (let i = 0; i < missing.length; i += BATCH_SIZE) {
        const part = missing.slice(i, i + BATCH_SIZE);
        for (const source of part) family.set(source, null);
        // A damaged document would fail a condition on its fields for all.
        const filter = { id: { in: part.map(getMonitorId) } };
        const page = await this.monitors.find({ filter, limit: BATCH_SIZE, damaged: this.#damage.report });
        for (const doc of page.items) if (doc.deleted_at === null) family.set(doc.source, toRelative(doc));
      }
      wanted = new Set(missing.flatMap((source) => family.get(source)?.parent_source ?? []));
    }
    return family;
  }

  async findSuppressor(child: TreeNode): Promise<string | null> {
    if (child.parent_source === null) return null;
    const family = await this.loadAncestors([child]);
    return findDownAncestor(child, family)?.source ?? null;
  }

  async listDescendants(source: string, limit = 100_000): Promise<MonitorDoc[]> {
    const found: MonitorDoc[] = [];
    const seen = new Set([source]);
    let level = [source];
    while (level.length > 0 && found.length < limit) {
      const children = await this.#findChildren(level);
      const fresh = children.filter((child) => !seen.has(child.source));
      for (const child of fresh) seen.add(child.source);
      found.push(...fresh);
      level = fresh.map((child) => child.source);
    }
    return found.slice(0, limit);
  }

  async #findChildren(parents: readonly string[]): Promise<MonitorDoc[]> {
    const found: MonitorDoc[] = [];
    for (let i = 0; i < parents.length; i += BATCH_SIZE) {
      const query: FindQuery = {
        filter: { parent_source: { in: parents.slice(i, i + BATCH_SIZE) }, deleted_at: null },
        sort: [
          ['parent_source', 'asc'],
          ['source', 'asc'],
        ],
        limit: BATCH_SIZE,
      };
      found.push(...(await collectAll(this.monitors, query)));
    }
    return found;
  }
}

export const toRelative = ({ source, parent_source, state, left_down_at, group = null }: MonitorDoc): TreeRelative => ({
  source,
  parent_source,
  state,
  left_down_at,
  group,
});

/** A group is only down through its children. */
export const findDownAncestor = (
  child: TreeNode,
  family: ReadonlyMap<string, TreeRelative | null>,
): TreeRelative | null =>
  listAncestors(child, family).find(({ state, group }) => state === 'down' && group !== true) ?? null;
