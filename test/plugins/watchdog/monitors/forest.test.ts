/**
 * The tree within its budget, compared with a plain reading of the rules (contract 30, hierarchy).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  MonitorForest,
  formatTreeJson,
  type TreeBranch,
} from '../../../../plugins/watchdog/monitors/monitor-forest.js';

interface Item {
  source: string;
  parent_source: string | null;
}

const items = fc
  .array(fc.option(fc.nat(25), { nil: null }), { maxLength: 20 })
  .map((parents) =>
    parents
      .map((parent, i): Item => ({ source: `m${i}`, parent_source: parent === null ? null : `m${parent}` }))
      .toSorted((a, b) => (a.source < b.source ? -1 : 1)),
  );

const all = <T>(branches: readonly TreeBranch<T>[]): TreeBranch<T>[] =>
  branches.flatMap((branch) => [branch, ...all(branch.children)]);

describe('monitor tree', () => {
  it('places every monitor once below its parent, within the size limit', async () => {
    await fc.assert(
      fc.asyncProperty(items, fc.nat(25), async (list, budget) => {
        const forest = await MonitorForest.create(list);
        const { branches, placed } = forest.buildBranches(forest.roots, budget);
        const flat = all(branches);
        expect(placed).to.equal(Math.min(budget, list.length));
        expect(flat.map(({ item }) => item.source)).to.have.length(new Set(flat.map(({ item }) => item.source)).size);
        for (const { item, children } of flat) {
          for (const child of children) expect(child.item.parent_source).to.equal(item.source);
        }
        if (budget < list.length) return;
        expect(flat.every(({ more }) => more === 0)).to.equal(true);
      }),
    );
  });

  it('counts monitors and problems below each node, and omits folded and hidden nodes', async () => {
    const isTroubled = ({ source }: Item): boolean => source.endsWith('3');
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        const forest = await MonitorForest.create(list);
        const tallies = await forest.countSubtrees(isTroubled);
        for (const branch of all(forest.buildBranches(forest.roots, list.length).branches)) {
          const below = all(branch.children).map(({ item }) => item);
          const troubled = [branch.item, ...below].filter(isTroubled).length;
          expect(tallies.get(branch.item.source)).to.deep.equal({ below: below.length, troubled });
        }
        const has = ({ source }: Item): boolean => (tallies.get(source)?.troubled ?? 0) > 0;
        const folded = all(forest.buildBranches(forest.roots, list.length, has).branches);
        for (const { item, children } of folded) if (!has(item)) expect(children).to.deep.equal([]);
        const problems = all(forest.buildBranches(forest.roots.filter(has), list.length, has, has).branches);
        expect(problems.every(({ item }) => has(item))).to.equal(true);
        for (const item of list.filter(isTroubled)) {
          for (const shown of [folded, problems]) expect(shown.map((one) => one.item.source)).to.include(item.source);
        }
      }),
    );
  });

  it('detects monitors on a cycle of parents', async () => {
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        const parents = new Map(list.map(({ source, parent_source }) => [source, parent_source]));
        const onCycle = (source: string): boolean => {
          let at = parents.get(source) ?? null;
          for (let steps = 0; at !== null && parents.has(at) && steps <= list.length; steps++) {
            if (at === source) return true;
            at = parents.get(at) ?? null;
          }
          return false;
        };
        const expected = list.map(({ source }) => source).filter(onCycle);
        expect([...(await MonitorForest.create(list)).cycling]).to.have.members(expected);
      }),
    );
  });

  it('serializes the same JSON as JSON.stringify', async () => {
    await fc.assert(
      fc.asyncProperty(items, async (list) => {
        const forest = await MonitorForest.create(list);
        const { branches } = forest.buildBranches(forest.roots, 100);
        const plain = (branch: TreeBranch<Item>): object => ({
          source: branch.item.source,
          children: branch.children.map(plain),
        });
        expect(formatTreeJson(branches, ({ source }) => `"source":"${source}"`)).to.equal(
          JSON.stringify(branches.map(plain)),
        );
      }),
    );
  });

  it('supports a chain deeper than the call stack', async () => {
    const chain = Array.from({ length: 50_000 }, (_, i): Item => {
      const name = (n: number): string => `m${String(n).padStart(6, '0')}`;
      return { source: name(i), parent_source: i === 0 ? null : name(i - 1) };
    });
    const forest = await MonitorForest.create(chain);
    const { branches, placed } = forest.buildBranches(forest.roots, 50_000);
    expect(placed).to.equal(50_000);
    expect(formatTreeJson(branches, ({ source }) => `"source":"${source}"`)).to.match(/^\[\{.*\}\]$/);
  });
});
