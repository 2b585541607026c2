/** One row per machine, whatever it reports through (contract 80). */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { MachineDayCounter } from '../../../plugins/machines/day-counts.js';
import { COLLECTIONS, type DayDoc, type InventoryDoc } from '../../../plugins/machines/documents.js';
import { isOutdated, MachineInventoryService } from '../../../plugins/machines/machine-inventory.js';
import { MachineReportWriter } from '../../../plugins/machines/report-writer.js';
import type { MachineReleases, MachineReport } from '../../../ports/domain/machines/inventory.js';
import { RecordingLog } from '../../kit/fakes.js';
import { ManualClock } from '../access/fixture.js';

const DAY = 86_400_000;
const releases: MachineReleases = {
  listNewest: (project) =>
    project === 'till'
      ? [
          { channel: 'stable', platform: 'any', version: '2.2.0' },
          { channel: 'beta', platform: 'any', version: '2.3.0-rc.1' },
        ]
      : [],
  findChannel: (_, version) => (version.includes('-rc') ? 'beta' : version === '9.9' ? null : 'stable'),
};

async function createInventory() {
  const store = new MemoryStore();
  await store.ensure(COLLECTIONS);
  const rows = store.collection<InventoryDoc>('machines');
  const clock = new ManualClock();
  const writer = new MachineReportWriter(rows, () => releases, clock, new RecordingLog());
  const days = new MachineDayCounter(store.collection<DayDoc>('days'), rows, clock);
  const inventory = new MachineInventoryService(rows, () => releases, writer, clock, days);
  return { rows, clock, writer, days, inventory };
}

const report = (fields: Partial<MachineReport> & Pick<MachineReport, 'source' | 'key'>): MachineReport => ({
  project: 'till',
  name: null,
  version: '2.2.0',
  channel: null,
  platform: null,
  license_id: null,
  ...fields,
});

describe('machines: the inventory', () => {
  const check = report({ source: 'update_check', key: 'id-7', channel: 'stable', platform: 'win-x64' });
  const activation = report({ source: 'activation', key: 'id-7', name: 'till-linz-1', license_id: 'lic1' });
  const heartbeat = report({ source: 'heartbeat', key: 'till-linz-1', name: 'Till Linz 1', version: '2.2.0' });

  for (const [name, reports] of Object.entries({
    'check, activation, heartbeat': [check, activation, heartbeat],
    'heartbeat, activation, check': [heartbeat, activation, check],
    'activation, heartbeat, check': [activation, heartbeat, check],
    'heartbeat, activation by the monitor’s name, check': [
      report({ source: 'heartbeat', key: 'm4', name: 'TILL-LINZ-1' }),
      activation,
      check,
    ],
    'heartbeat, check, activation': [heartbeat, check, activation],
    'check, heartbeat, activation': [check, heartbeat, activation],
    'check, heartbeat by the monitor’s name, activation': [
      check,
      report({ source: 'heartbeat', key: 'm4', name: 'TILL-LINZ-1' }),
      activation,
    ],
    'check, activation without a name, heartbeat with the machine’s id': [
      check,
      { ...activation, name: null },
      { ...heartbeat, instance_id: 'id-7' },
    ],
    'heartbeat of an old client, check, activation without a name, heartbeat with the machine’s id': [
      heartbeat,
      check,
      { ...activation, name: null },
      { ...heartbeat, instance_id: 'id-7' },
    ],
    'check, heartbeat without a version, activation': [
      check,
      { ...heartbeat, version: null, instance_id: 'id-7' },
      activation,
    ],
  }))
    it(`shows one machine for ${name}`, async () => {
      const { inventory } = await createInventory();
      for (const one of reports) {
        inventory.record(one);
        await inventory.list({ limit: 1 });
      }
      const { items } = await inventory.list({ limit: 10 });
      expect(items).to.have.length(1);
      expect(items[0]).to.include({ instance_id: 'id-7', platform: 'win-x64', license_id: 'lic1', version: '2.2.0' });
      expect(items[0]?.monitor).to.be.oneOf(['till-linz-1', 'm4']);
      expect(await inventory.getTotals('till')).to.deep.equal({ machines: 1, outdated: 0, silent: 0 });
    });

  for (const [name, verified, expected] of [
    ['a heartbeat', heartbeat, '2.2.0'],
    ['an activation', activation, '2.2.0'],
    ['another update check', check, '1.0'],
    ['an activation without a version', { ...activation, version: null }, '1.0'],
  ] as const)
    it(`${expected === '1.0' ? 'takes' : 'ignores'} the version of an update check after ${name}`, async () => {
      const { inventory } = await createInventory();
      inventory.record(verified);
      await inventory.list({ limit: 1 });
      const key = verified.source === 'heartbeat' ? 'till-linz-1' : 'id-7';
      inventory.record(report({ source: 'update_check', key, version: '1.0', platform: 'linux-x64' }));
      const { items } = await inventory.list({ limit: 10 });
      expect(items.map(({ version }) => version)).to.deep.equal([expected]);
    });

  it('keeps machines apart that send heartbeats of one source with separate ids', async () => {
    const { inventory } = await createInventory();
    for (const instance_id of ['id-1', 'id-2', 'id-1'])
      for (const source of ['update_check', 'heartbeat'] as const)
        inventory.record(report({ source, key: source === 'heartbeat' ? 'farm' : instance_id, instance_id }));
    const { items } = await inventory.list({ limit: 10 });
    expect(items.map(({ instance_id, monitor }) => `${instance_id} ${monitor}`)).to.have.members([
      'id-1 farm',
      'id-2 farm',
    ]);
  });

  it('leaves the monitor and version of a machine after a heartbeat of another monitor with its id', async () => {
    const { inventory } = await createInventory();
    inventory.record({ ...heartbeat, instance_id: 'id-7' });
    await inventory.list({ limit: 1 });
    inventory.record(report({ source: 'heartbeat', key: 'other', version: '1.0', instance_id: 'id-7' }));
    const { items } = await inventory.list({ limit: 10 });
    expect(items.map(({ instance_id, monitor, version }) => ({ instance_id, monitor, version }))).to.have.deep.members([
      { instance_id: 'id-7', monitor: 'till-linz-1', version: '2.2.0' },
      { instance_id: null, monitor: 'other', version: '1.0' },
    ]);
  });

  it('does not count a heartbeat without a version as a machine', async () => {
    const { inventory } = await createInventory();
    inventory.record(report({ source: 'heartbeat', key: 'db-1', version: null, instance_id: 'id-9' }));
    expect((await inventory.list({ limit: 10 })).items).to.deep.equal([]);
  });

  it('does not join a machine to a monitor whose name another machine has too', async () => {
    const { inventory } = await createInventory();
    for (const key of ['id-1', 'id-2']) inventory.record(report({ source: 'activation', key, name: 'till' }));
    inventory.record(report({ source: 'heartbeat', key: 'till' }));
    await inventory.list({ limit: 1 });
    inventory.record(report({ source: 'activation', key: 'id-1', name: 'till', version: '2.2.1' }));
    expect((await inventory.list({ limit: 10 })).items).to.have.length(3);
  });

  for (const [name, key] of [
    ['the source in other letters', 'TILL-LINZ-1'],
    ['the name of the monitor', 'Till Linz 1'],
  ] as const)
    it(`leaves a monitor as it is after an update check with ${name}`, async () => {
      const { inventory } = await createInventory();
      inventory.record(heartbeat);
      const [before] = (await inventory.list({ limit: 1 })).items;
      inventory.record(report({ source: 'update_check', key, version: '9.9', channel: 'beta' }));
      const { items } = await inventory.list({ limit: 10 });
      expect(items).to.have.length(2);
      expect(items.find(({ id }) => id === before?.id)).to.deep.equal(before);
    });

  it('leaves the name, version, platform and channel of a machine after a contradicting update check', async () => {
    const { inventory } = await createInventory();
    inventory.record({ ...activation, platform: 'win-x64' });
    inventory.record({ ...heartbeat, instance_id: 'id-7' });
    const [before] = (await inventory.list({ limit: 1 })).items;
    const forged = { channel: 'beta', platform: 'linux-x64', version: '1.0' };
    inventory.record(report({ source: 'update_check', key: 'id-7', ...forged }));
    const { items } = await inventory.list({ limit: 10 });
    expect(items.map(({ last_seen_at: _seen, ...row }) => row)).to.deep.equal([
      (({ last_seen_at: _seen, ...row }) => row)(before as (typeof items)[number]),
    ]);
  });

  it('keeps machines apart that share a name', async () => {
    const { inventory } = await createInventory();
    for (const key of ['id-1', 'id-2']) inventory.record(report({ source: 'activation', key, name: 'till' }));
    inventory.record(heartbeat);
    inventory.record(report({ source: 'heartbeat', key: 'till' }));
    expect((await inventory.list({ limit: 10 })).items).to.have.length(4);
  });

  it('counts versions per channel: of the report, otherwise of the release', async () => {
    const { inventory } = await createInventory();
    inventory.record(report({ source: 'update_check', key: 'a', channel: 'beta', version: '2.2.0' }));
    inventory.record(report({ source: 'activation', key: 'b', version: '2.3.0-rc.1' }));
    inventory.record(report({ source: 'activation', key: 'c', version: '9.9' }));
    inventory.record(report({ source: 'heartbeat', key: 'a', version: '2.2.0' }));
    const counts = await inventory.listCounts('till');
    expect(counts.map(({ channel, version, machines }) => `${channel} ${version} ${machines}`)).to.have.members([
      'beta 2.2.0 1',
      'beta 2.3.0-rc.1 1',
      'stable 9.9 1',
    ]);
  });

  it('does not compare stable machines with a beta candidate', async () => {
    const { inventory } = await createInventory();
    for (const [key, channel, version] of [
      ['new', 'stable', '2.2'],
      ['old', 'stable', '2.1.0'],
      ['beta', 'beta', '2.2.0'],
      ['odd', 'stable', 'nightly'],
    ] as const)
      inventory.record(report({ source: 'update_check', key, channel, version }));
    const { items } = await inventory.list({ outdated: true, limit: 10 });
    expect(items.map(({ instance_id }) => instance_id)).to.have.members(['old', 'beta']);
    expect((await inventory.getTotals()).outdated).to.equal(2);
  });

  it('pages through filtered versions without repeating or losing a machine', async () => {
    const { inventory } = await createInventory();
    for (let i = 0; i < 25; i++)
      inventory.record(
        report({ source: 'update_check', key: `m${i}`, platform: ['a', 'b', 'c'][i % 3] ?? null, version: '2.1.0' }),
      );
    inventory.record(report({ source: 'update_check', key: 'other', version: '2.2.0' }));
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof inventory.list>> = await inventory.list({
        project: 'till',
        version: '2.1',
        limit: 4,
        after,
      });
      expect(page.items.length).to.be.at.most(4);
      seen.push(...page.items.map(({ instance_id }) => instance_id ?? ''));
      after = page.next;
    } while (after !== null);
    expect(seen).to.have.length(25);
    expect(new Set(seen)).to.have.length(25);
  });

  it('lists the machines of a channel and platform, and those without a platform', async () => {
    const { inventory } = await createInventory();
    for (const [key, channel, platform] of [
      ['a', 'stable', 'win-x64'],
      ['b', 'stable', null],
      ['c', 'stable', 'linux-x64'],
      ['d', 'beta', 'win-x64'],
    ] as const)
      inventory.record(report({ source: 'update_check', key, channel, platform }));
    const place = { project: 'till', version: '2.2', channel: 'stable', platform: 'win-x64' };
    const { items } = await inventory.list({ ...place, limit: 10 });
    expect(items.map(({ instance_id }) => instance_id)).to.have.members(['a', 'b']);
  });

  it('writes a repeated report again only after ten minutes', async () => {
    const { inventory, clock } = await createInventory();
    const seenAt = async (): Promise<string | undefined> => (await inventory.list({ limit: 1 })).items[0]?.last_seen_at;
    inventory.record(check);
    const first = await seenAt();
    clock.forward(5 * 60_000);
    inventory.record(check);
    expect(await seenAt()).to.equal(first);
    clock.forward(6 * 60_000);
    inventory.record(check);
    expect(await seenAt()).not.to.equal(first);
  });

  it('records machines by version per day, with today as it is now', async () => {
    const { inventory, clock, days } = await createInventory();
    for (const key of ['a', 'b', 'c'])
      inventory.record(report({ source: 'update_check', key, channel: key === 'c' ? 'beta' : 'stable' }));
    inventory.record(report({ source: 'update_check', key: 'd', project: 'shop' }));
    const today = clock.iso().slice(0, 10);
    const expected = { day: today, versions: [{ version: '2.2.0', machines: 3 }] };
    expect(await inventory.listDays('till', 30)).to.deep.equal([expected]);
    await days.record();
    await days.record();
    clock.forward(DAY);
    inventory.record(report({ source: 'update_check', key: 'a', version: '2.3.0' }));
    const [before, now] = await inventory.listDays('till', 30);
    expect(before).to.deep.equal(expected);
    expect(now?.versions).to.deep.equal([
      { version: '2.2.0', machines: 2 },
      { version: '2.3.0', machines: 1 },
    ]);
    expect(await inventory.listDays('till', 1)).to.have.length(1);
    clock.forward(91 * DAY);
    await days.deleteExpired();
    expect(await inventory.listDays('till', 200)).to.have.length(1);
  });

  it('lists machines that have been silent for a week', async () => {
    const { inventory, clock } = await createInventory();
    inventory.record(check);
    await inventory.list({ limit: 1 });
    clock.forward(8 * DAY);
    inventory.record(report({ source: 'update_check', key: 'id-8' }));
    const { items } = await inventory.list({ silent: true, limit: 10 });
    expect(items.map(({ instance_id }) => instance_id)).to.deep.equal(['id-7']);
    expect(await inventory.getTotals('till')).to.deep.equal({ machines: 2, outdated: 0, silent: 1 });
  });

  it('rejects a foreign cursor', async () => {
    const { inventory } = await createInventory();
    let fault: unknown;
    await inventory.list({ outdated: true, limit: 1, after: '["x"' }).catch((error: unknown) => (fault = error));
    expect(String(fault)).to.include('InvalidCursor');
  });

  it('compares a machine with its platform’s newest release', () => {
    const newest = [
      { channel: 'stable', platform: 'any', version: '3.0' },
      { channel: 'stable', platform: 'win-x64', version: '2.0' },
    ];
    const machine = (platform: string | null, version: string | null) => ({ channel: 'stable', platform, version });
    expect(isOutdated(machine('win-x64', '2.0.0'), newest)).to.equal(false);
    expect(isOutdated(machine('linux-x64', '2.0.0'), newest)).to.equal(true);
    expect(isOutdated(machine(null, '2.0.0'), newest)).to.equal(true);
    expect(isOutdated(machine(null, null), newest)).to.equal(false);
  });
});
