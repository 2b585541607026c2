/**
 * A rollout that crashes more than the version before stops by itself (contract 21, release
 * health).
 */
import { expect } from 'chai';
import type { ReleaseHealth, SessionWindow } from '../../../ports/domain/release-health.js';
import { CI, memoryFixture, type Fixture } from './fixture.js';

const MINUTE = 60_000;
const windowOf = (
  started: number,
  crashed: number,
  { crash_addresses = 2, crashes_by_token = false }: Partial<SessionWindow> = {},
): SessionWindow => ({ started, crashed, crash_addresses, crashes_by_token });

describe('releases: halt on crashes', () => {
  let sessions: Record<string, SessionWindow>;
  let requested: [version: string, since: string][];
  let one: Fixture;

  beforeEach(async () => {
    sessions = { '1.0': windowOf(1_000, 10) };
    requested = [];
    const health: ReleaseHealth = {
      listVersions: async () => [],
      getSessionsSince: async (_project, version, since) => {
        requested.push([version, since]);
        return sessions[version] ?? windowOf(0, 0);
      },
    };
    one = await memoryFixture((deps) => {
      deps.health = () => health;
    });
    await one.publish('1.0');
    await one.publish('1.1', 'b', { rollout_percent: 50 });
  });

  const halted = async (): Promise<boolean> => (await one.halting.checkAll()) === 1;

  it('halts from two points below the crash-free rate of the previous version', async () => {
    sessions['1.1'] = windowOf(1_000, 29);
    expect(await halted()).to.equal(false);
    sessions['1.1'] = windowOf(1_000, 30);
    expect(await halted()).to.equal(true);
    const event = one.told.find(({ event: name }) => name === 'release.halted');
    expect(event?.data['reason']).to.match(
      /^97\.00 % of 1000 sessions of 1\.1 since \S+ were crash-free, of 1\.0 99\.00 %; 2 points below stop a rollout$/,
    );
    expect(await halted()).to.equal(false);
  });

  it('does not halt below releases.halt_sessions sessions, nor for a single untrusted client', async () => {
    sessions['1.1'] = windowOf(99, 99);
    expect(await halted()).to.equal(false);
    sessions['1.1'] = windowOf(5_000, 2_000, { crash_addresses: 1 });
    expect(await halted()).to.equal(false);
    sessions['1.1'] = windowOf(100, 3);
    expect(await halted()).to.equal(true);
  });

  it('does not halt for untrusted clients with crashes in less than 1 % of the sessions', async () => {
    one.deps.config.halt_crash_free_points = 0.1;
    sessions['1.0'] = windowOf(1_000, 0);
    sessions['1.1'] = windowOf(1_000, 9, { crash_addresses: 50 });
    expect(await halted()).to.equal(false);
    sessions['1.1'] = windowOf(1_000, 10, { crash_addresses: 50 });
    expect(await halted()).to.equal(true);
  });

  it('halts for one address when a token reports, or when releases.halt_addresses allows it', async () => {
    sessions['1.1'] = windowOf(100, 50, { crash_addresses: 0, crashes_by_token: true });
    expect(await halted()).to.equal(true);
    await one.publish('1.2', 'c', { rollout_percent: 50 });
    sessions['1.0'] = windowOf(1_000, 10);
    sessions['1.1'] = windowOf(1_000, 10);
    sessions['1.2'] = windowOf(100, 50, { crash_addresses: 1 });
    expect(await halted()).to.equal(false);
    one.deps.config.halt_addresses = 1;
    expect(await halted()).to.equal(true);
  });

  it('compares with the nearest lower version of the channel with enough sessions', async () => {
    await one.publish('0.9', 'c');
    await one.publish('1.0.5', 'd');
    await one.publish('1.0.9', 'e', { channel: 'beta' });
    sessions = {
      '1.1': windowOf(200, 10),
      '1.0.5': windowOf(3, 3),
      '1.0.9': windowOf(500, 0),
      '1.0': windowOf(500, 20),
    };
    expect(await halted()).to.equal(false);
    sessions['1.0'] = windowOf(500, 0);
    expect(await halted()).to.equal(true);
  });

  it('continues without a version to compare, and also compares with few previous sessions', async () => {
    sessions = { '1.1': windowOf(500, 400) };
    expect(await halted()).to.equal(false);
    sessions['1.0'] = windowOf(20, 0);
    expect(await halted()).to.equal(true);
  });

  it('continues without earlier sessions when the rollout is set again', async () => {
    sessions['1.1'] = windowOf(1_000, 500);
    expect(await halted()).to.equal(true);
    one.clock.forward(10 * MINUTE + 7_000);
    const chosen = { product: 'shop', channel: 'stable', version: '1.1', platform: 'any' } as const;
    const set = await one.changes.setRollout(CI, chosen, 60);
    requested.length = 0;
    sessions['1.1'] = windowOf(0, 0);
    expect(await halted()).to.equal(false);
    const [[version, since] = ['', '']] = requested;
    expect(version).to.equal('1.1');
    expect(since > set.rollout_at).to.equal(true);
    expect(Date.parse(since) - Date.parse(set.rollout_at)).to.be.below(MINUTE);
  });
});
