/** Numbers of new items: each once, without a gap, and shared writes where many come at once. */
import { expect } from 'chai';
import type { Deps } from '../../../../plugins/bugs/deps.js';
import { Numbers } from '../../../../plugins/bugs/intake/numbers.js';
import { errorReport, memoryFixture, settled } from '../fixture.js';

describe('bugs: numbers of new items', () => {
  it('of many at once are all there, in few writes, and each project has its own', async () => {
    const { deps } = await memoryFixture();
    let writes = 0;
    const { counters } = deps;
    const change: typeof counters.change = (...args) => {
      writes += 1;
      return counters.change(...args);
    };
    const numbers = new Numbers({ counters: { change } } as unknown as Deps);
    const take = (project: string, n: number) => Promise.all(Array.from({ length: n }, () => numbers.next(project)));
    const [one, two] = await Promise.all([take('one', 40), take('two', 3)]);
    expect(one).to.deep.equal(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(two).to.deep.equal([1, 2, 3]);
    expect(writes).to.equal(4);
    expect(await numbers.next('one')).to.equal(41);
  });

  it('go on after a write that failed', async () => {
    const { deps } = await memoryFixture();
    const { counters } = deps;
    let broken = true;
    const change: typeof counters.change = async (...args) => {
      if (broken) throw new Error('no disk');
      return counters.change(...args);
    };
    const numbers = new Numbers({ counters: { change } } as unknown as Deps);
    const failed = await Promise.allSettled([numbers.next('one'), numbers.next('one')]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    broken = false;
    expect(await numbers.next('one')).to.equal(1);
  });

  it('are those of the items, whichever reports come together', async () => {
    const fixture = await memoryFixture();
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        fixture.bugs.record(errorReport({ error_message: `message ${'abcdefghijkl'[i]}`, exception_class: `E${i}` })),
      ),
    );
    await settled(fixture);
    const numbers = made.map(({ ref }) => Number(ref.split('-').at(-1))).toSorted((a, b) => a - b);
    expect(numbers).to.deep.equal(made.map((_, i) => i + 1));
  });
});
