import { expect } from 'chai';
import { buildCurve, countUpdated, loadAdoption } from '../../../plugins/releases/pages/adoption.js';
import type { MachineCount, MachineInventory } from '../../../ports/domain/machines/inventory.js';
import { ManualClock } from '../access/fixture.js';

const count = (channel: string, platform: string | null, version: string | null, machines: number): MachineCount => ({
  project: 'till',
  channel,
  platform,
  version,
  machines,
});

describe('releases: adoption of a release', () => {
  const clock = new ManualClock();
  const inventory = {
    listCounts: async () => [
      count('stable', 'win-x64', '2.2.0', 4),
      count('stable', null, '2.2', 2),
      count('stable', 'win-x64', '2.1.1', 54),
      count('stable', 'linux-x64', '2.2.0', 9),
      count('beta', 'win-x64', '2.3.0-rc.1', 3),
    ],
    listAdoption: async () => [],
  } as Partial<MachineInventory> as MachineInventory;
  const release = { product: 'till', channel: 'stable', platform: 'win-x64' as const, version: '2.2.0' };

  it('counts the machines of its channel and platform, in any spelling of the version', async () => {
    const adoption = await loadAdoption(
      { machines: () => inventory, clock },
      { ...release, published_at: clock.iso() },
    );
    expect(adoption).to.include({
      updated: 6,
      all: 60,
      href: '/machines?project=till&version=2.2.0&channel=stable&platform=win-x64',
    });
  });

  it('shows the same numbers on Home, on a project and on its page', async () => {
    expect(countUpdated(await inventory.listCounts(), release)).to.deep.equal({ updated: 6, all: 60 });
  });

  it('counts machines of every platform for a release of any platform', async () => {
    const place = { ...release, platform: 'any' as const, published_at: clock.iso() };
    expect(await loadAdoption({ machines: () => inventory, clock }, place)).to.include({ updated: 15, all: 69 });
  });

  it('draws the machines by the hour in which they updated, all of them at the end', () => {
    const at = (hours: number): number => Date.UTC(2026, 10, 29, hours);
    const { points, from, to } = buildCurve(
      [
        { hour: new Date(at(0)).toISOString(), machines: 2 },
        { hour: new Date(at(5)).toISOString(), machines: 3 },
      ],
      at(0),
      at(6),
    );
    expect([from, to]).to.deep.equal([new Date(at(0)).toISOString(), new Date(at(6)).toISOString()]);
    expect(points.map(({ avg }) => avg)).to.deep.equal(points.map(({ avg }) => avg).toSorted((a, b) => a - b));
    expect([points[0]?.avg, points[30]?.avg, points.at(-1)?.avg]).to.deep.equal([0, 2, 5]);
  });
});
