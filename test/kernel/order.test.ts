import { expect } from 'chai';
import fc from 'fast-check';
import { sortByDependency, type Dependent } from '../../kernel/dependency-order.js';

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const graphs = fc
  .uniqueArray(fc.constantFrom(...ids), { minLength: 1 })
  .chain((names) =>
    fc.tuple(
      ...names.map((id) =>
        fc.record({ id: fc.constant(id), after: fc.uniqueArray(fc.constantFrom(...ids), { maxLength: 3 }) }),
      ),
    ),
  ) as fc.Arbitrary<Dependent[]>;

describe('kernel/dependency-order', () => {
  it('preserves the configured order where no dependency requires another', () => {
    const { order, circles } = sortByDependency([
      { id: 'c', after: ['z'] },
      { id: 'a', after: [] },
      { id: 'b', after: ['c'] },
    ]);
    expect(order).to.deep.equal(['c', 'a', 'b']);
    expect(circles).to.deep.equal([]);
  });

  it('orders a provider before its consumers', () => {
    const { order } = sortByDependency([
      { id: 'web', after: ['bugs'] },
      { id: 'bugs', after: ['access'] },
      { id: 'access', after: [] },
    ]);
    expect(order).to.deep.equal(['access', 'bugs', 'web']);
  });

  it('reports a cycle in full, without plugins that only depend on it', () => {
    const { order, circles } = sortByDependency([
      { id: 'outside', after: ['a'] },
      { id: 'a', after: ['b'] },
      { id: 'b', after: ['c'] },
      { id: 'c', after: ['a'] },
      { id: 'self', after: ['self'] },
      { id: 'free', after: [] },
    ]);
    expect(circles).to.deep.equal([
      ['a', 'b', 'c', 'a'],
      ['self', 'self'],
    ]);
    expect(order).to.deep.equal(['free']);
  });

  it('satisfies every edge of any graph, or reports a real cycle', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const { order, circles } = sortByDependency(graph);
        const edges = new Map(graph.map(({ id, after }) => [id, new Set(after)]));
        expect(new Set(order).size).to.equal(order.length);
        for (const [at, id] of order.entries()) {
          for (const first of edges.get(id) ?? []) {
            if (edges.has(first)) expect(order.indexOf(first)).to.be.within(0, at - 1);
          }
        }
        for (const circle of circles) {
          expect(circle.at(0)).to.equal(circle.at(-1));
          for (const [i, to] of circle.slice(1).entries())
            expect(edges.get(circle[i] as string)?.has(to)).to.equal(true);
        }
        expect(circles.length > 0).to.equal(order.length < graph.length);
      }),
    );
  });
});
