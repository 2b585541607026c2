/**
 * What other plugins ask about monitors: pages of them, and the versions that machines run
 * (ports/domain/watchdog.ts).
 */
import { expect } from 'chai';
import { MemoryStore } from '../../../../adapters/memory/store.js';
import { toVersionAdoption } from '../../../../plugins/watchdog/monitors/version-adoption.js';
import { ANYONE, ensureCollections, fixtureOn, type Fixture } from '../fixture.js';

describe('watchdog: versions on the machines of a project', () => {
  let fixture: Fixture;
  beforeEach(async () => (fixture = fixtureOn(await ensureCollections(new MemoryStore()))));

  const machine = async (source: string, app_version: string | null, project = 'shop'): Promise<void> => {
    await fixture.monitors.create({ source, project }, ANYONE);
    await fixture.beat(source, { status: 'ok', ...(app_version !== null && { app_version }) });
  };

  it('counts all machines and those that are up, most frequent version first', async () => {
    for (const [source, version] of [
      ['a', '1.2'],
      ['b', '1.2'],
      ['c', '1.2.0'],
      ['d', '1.1'],
      ['e', 'nightly'],
    ] as const)
      await machine(source, version);
    await machine('f', null);
    await machine('g', '1.2', 'other');
    await fixture.beat('b', { status: 'warning' });
    expect(await fixture.adoption.getAdoption('shop')).to.deep.equal([
      { version: '1.2', monitors: 3, up: 2 },
      { version: '1.1', monitors: 1, up: 1 },
      { version: 'nightly', monitors: 1, up: 1 },
      { version: null, monitors: 1, up: 1 },
    ]);
    expect(await fixture.adoption.getAdoption('nobody')).to.deep.equal([]);
  });

  it('excludes deleted monitors', async () => {
    await machine('a', '1.2');
    await machine('b', '1.2');
    await fixture.monitors.remove('a', ANYONE);
    expect(await fixture.adoption.getAdoption('shop')).to.deep.equal([{ version: '1.2', monitors: 1, up: 1 }]);
  });

  it('never counts more machines as up than in total', () => {
    const up = [
      { key: '1.2', n: 3 },
      { key: '9.9', n: 1 },
    ];
    expect(toVersionAdoption([{ key: '1.2', n: 2 }], up)).to.deep.equal([{ version: '1.2', monitors: 2, up: 2 }]);
  });

  it('lists monitors that match every given field, paged by source', async () => {
    for (const source of ['c', 'a', 'b']) await machine(source, null);
    await machine('z', null, 'other');
    await fixture.monitors.create({ source: 'k', project: 'shop', parent_source: 'a' }, ANYONE);
    const sources = async (query: Parameters<typeof fixture.monitors.listPage>[0]): Promise<string[]> =>
      (await fixture.monitors.listPage(query)).items.map(({ source }) => source);
    expect(await sources({ project: 'shop' })).to.deep.equal(['a', 'b', 'c', 'k']);
    expect(await sources({ state: 'unknown' })).to.deep.equal(['k']);
    expect(await sources({ project: 'shop', state: 'up' })).to.deep.equal(['a', 'b', 'c']);
    expect(await sources({ parent_source: 'a' })).to.deep.equal(['k']);
    const first = await fixture.monitors.listPage({ limit: 2 });
    expect(first.items.map(({ source }) => source)).to.deep.equal(['a', 'b']);
    expect(await sources({ limit: 3, after: first.next })).to.deep.equal(['c', 'k', 'z']);
  });
});
