/** Numbers of new items: each once, without a gap, and shared writes where many come at once. */
import { expect } from 'chai';
import type { BugDeps } from '../../../../plugins/bugs/deps.js';
import { errorReport, fixtureOn, memoryFixture, settled, STORES } from '../fixture.js';
import { ItemNumberAllocator } from '../../../../plugins/bugs/intake/item-creator.js';

describe('bugs: numbers of new items', () => {
  it('are assigned to many concurrent items in few writes, per project', async () => {
    const { deps } = await memoryFixture();
    let writes = 0;
    const { counters } = deps;
    const change: typeof counters.change = (...args) => {
      writes += 1;
      return counters.change(...args);
    };
    const numbers = new ItemNumberAllocator({ change } as unknown as BugDeps['counters']);
    const take = (project: string, n: number) =>
      Promise.all(Array.from({ length: n }, () => numbers.allocate(project)));
    const [one, two] = await Promise.all([take('one', 40), take('two', 3)]);
    expect(one).to.deep.equal(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(two).to.deep.equal([1, 2, 3]);
    expect(writes).to.equal(4);
    expect(await numbers.allocate('one')).to.equal(41);
  });

  it('continue after a failed write', async () => {
    const { deps } = await memoryFixture();
    const { counters } = deps;
    let broken = true;
    const change: typeof counters.change = async (...args) => {
      if (broken) throw new Error('no disk');
      return counters.change(...args);
    };
    const numbers = new ItemNumberAllocator({ change } as unknown as BugDeps['counters']);
    const failed = await Promise.allSettled([numbers.allocate('one'), numbers.allocate('one')]);
    expect(failed.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected']);
    broken = false;
    expect(await numbers.allocate('one')).to.equal(1);
  });

  it('are unique for any batch of concurrent reports', async () => {
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

  for (const { name: engine, open } of STORES) {
    it(`${engine}: are unique and without gaps across two processes`, async () => {
      const opened = await open();
      try {
        const processes = [fixtureOn(opened.store), fixtureOn(opened.store)];
        const made: number[] = [];
        for (let round = 0; round < 4; round++) {
          const answers = processes.flatMap(({ bugs }, p) =>
            [0, 1, 2].map((n) => bugs.record(newGroup(round * 6 + p * 3 + n))),
          );
          made.push(...(await Promise.all(answers)).map(numberOf));
        }
        for (const fixture of processes) await settled(fixture);
        expect(new Set(made).size).to.equal(24);
        expect(await processes[0]?.deps.items.count()).to.equal(24);
      } finally {
        await opened.close();
      }
    });
  }
});

const newGroup = (n: number): ReturnType<typeof errorReport> =>
  errorReport({ error_message: `message ${String.fromCodePoint(97 + n)}`, exception_class: `E${n}` });

const numberOf = ({ ref }: { ref: string }): number => Number(ref.split('-').at(-1));
