/** The repositories of projects beside a list's items, however many projects there are (contract 20). */
import { expect } from 'chai';
import { Repositories } from '../../../../plugins/bugs/lists/repositories.js';
import type { BugDeps } from '../../../../plugins/bugs/deps.js';

const directory = (count: number): Pick<BugDeps, 'projects' | 'clock'> => {
  const all = Array.from({ length: count }, (_, n) => ({
    slug: `p${n}`,
    repo_url: n % 2 === 0 ? `https://git.example.com/p${n}` : null,
  }));
  const projects = {
    list: async () => all,
    get: async (slug: string) => all.find((one) => one.slug === slug) ?? null,
  };
  return { projects, clock: { monotonic: () => 0 } } as unknown as Pick<BugDeps, 'projects' | 'clock'>;
};
const address = (n: number): [string, string] => [`p${n}`, `https://git.example.com/p${n}`];

describe('bugs: repositories of lists', () => {
  it('are all of them at hand, and with thousands those of the page', async () => {
    const few = await new Repositories(directory(1_000)).of(undefined, () => expect.fail('no page is asked for'));
    expect(Object.keys(few ?? {})).to.have.length(500);
    const many = new Repositories(directory(4_000));
    expect(await many.of(undefined, async () => ['p3998', 'p3', 'p0', 'p3998', 'gone'])).to.deep.equal(
      Object.fromEntries([address(3998), address(0)]),
    );
    expect(await many.of(undefined, async () => ['p3'])).to.equal(null);
  });

  it('are those that a query names, of the last as of the first', async () => {
    const many = new Repositories(directory(4_000));
    const none = (): never => expect.fail('no page is asked for');
    expect(await many.of(['p3998', 'p1'], none)).to.deep.equal(Object.fromEntries([address(3998)]));
    const named = Array.from({ length: 30 }, (_, n) => `p${3_900 + n}`);
    expect(await many.of(named, async () => ['p3900'])).to.deep.equal(Object.fromEntries([address(3900)]));
  });

  it('are missing when no project has one', async () => {
    expect(await new Repositories(directory(0)).of(undefined, async () => ['p0'])).to.equal(null);
  });
});
