/** What deletes by age waits for a clock that is believed (decision 050), over every engine. */
import { expect } from 'chai';
import { definePlugin } from '../../kernel/contract/index.js';
import { ClockTrust } from '../../kernel/system/clock-trust.js';
import { DAY_MS, HOUR_MS, toIsoString, MINUTE_MS } from '../../lib/time.js';
import type { DocumentStore } from '../../ports/store/index.js';
import { boot, ManualClock, RecordingLog } from '../kit/index.js';
import { PluginStores } from '../support/stores.js';

const STORES = new PluginStores('kernel', []);
const YEAR_MS = 365 * DAY_MS;

for (const engine of STORES.all) {
  describe(`kernel: clock trust (${engine.name})`, () => {
    let store: DocumentStore;
    let close = async (): Promise<void> => undefined;
    beforeEach(async function () {
      ({ store, close } = await engine.open(() => this.skip()));
    });
    afterEach(() => close());
    const on = (clock: ManualClock, log = new RecordingLog()): ClockTrust => new ClockTrust({ store, clock, log });

    it('distrusts the clock after a jump, including in the next process, until it has run for a day', async () => {
      const clock = new ManualClock();
      const log = new RecordingLog();
      const trust = on(clock, log);
      expect(await trust.check()).to.deep.equal({
        believed: true,
        leapt: false,
        ahead_seconds: 0,
        believed_in_seconds: 0,
      });
      clock.advance(30 * DAY_MS);
      expect((await trust.check()).believed, 'the machine ran').to.equal(true);
      clock.set(clock.now() + YEAR_MS);
      expect(await trust.check()).to.deep.equal({
        believed: false,
        leapt: true,
        ahead_seconds: YEAR_MS / 1000,
        believed_in_seconds: DAY_MS / 1000,
      });
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn']);
      clock.advance(HOUR_MS);
      expect((await on(clock).check()).believed_in_seconds).to.equal((DAY_MS - HOUR_MS) / 1000);
      // After a boot the time until the first look is not known.
      const booted = new ManualClock(clock.iso());
      expect(await on(booted).check()).to.include({ believed: false, believed_in_seconds: (DAY_MS - HOUR_MS) / 1000 });
      const again = on(booted);
      for (let hour = 1; hour < 23; hour++) {
        booted.advance(HOUR_MS);
        expect((await again.check()).believed, `hour ${hour}`).to.equal(false);
      }
      booted.advance(HOUR_MS);
      expect((await again.check()).believed).to.equal(true);
    });

    it('reports no clock jump after the machine was stopped, but still waits', async () => {
      const clock = new ManualClock();
      await on(clock).check();
      const booted = new ManualClock(toIsoString(clock.now() + 3 * HOUR_MS));
      const log = new RecordingLog();
      const trust = on(booted, log);
      const waits = { believed: false, leapt: false, ahead_seconds: (3 * HOUR_MS) / 1000 };
      expect(await trust.check()).to.include(waits);
      booted.advance(HOUR_MS);
      expect(await trust.check()).to.include(waits);
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['info']);
    });

    it('trusts the clock immediately when it is corrected', async () => {
      const clock = new ManualClock();
      const log = new RecordingLog();
      const trust = on(clock, log);
      await trust.check();
      clock.set(clock.now() + YEAR_MS);
      expect((await trust.check()).believed).to.equal(false);
      clock.set(clock.now() - YEAR_MS);
      expect((await trust.check()).believed).to.equal(true);
      expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn', 'info']);
    });

    it('keeps trusting the shared time when the clock of one machine jumps and another is correct', async () => {
      const right = new ManualClock();
      const wrong = new ManualClock();
      const [good, bad] = [on(right), on(wrong)];
      await good.check();
      await bad.check();
      wrong.set(wrong.now() + YEAR_MS);
      for (let hour = 0; hour < 30; hour++) {
        expect((await bad.check()).believed, `hour ${hour}`).to.equal(false);
        right.advance(HOUR_MS);
        wrong.advance(HOUR_MS);
        expect((await good.check()).believed, `hour ${hour}`).to.equal(true);
      }
    });

    it('does not compare the clock with old records of another machine', async () => {
      const [one, other] = [new ManualClock(), new ManualClock()];
      const [first, second] = [on(one), on(other)];
      await first.check();
      await second.check();
      for (let minute = 0; minute < 600; minute++) {
        one.advance(MINUTE_MS);
        other.advance(MINUTE_MS);
        await first.check();
        if (minute % 4 === 0) await second.check();
      }
      other.set(other.now() + 2 * HOUR_MS);
      expect((await second.check()).believed).to.equal(false);
    });
  });
}

describe('kernel: retention jobs', () => {
  it('are skipped while the clock is not trusted, and other jobs run', async () => {
    const ran: string[] = [];
    const job = (name: string, more: object) => ({
      name,
      everyMs: HOUR_MS,
      run: async () => void ran.push(name),
      ...more,
    });
    const plugin = definePlugin({
      id: 'attic',
      version: '1.0.0',
      api: 1,
      title: 'Attic',
      setup: () => ({ jobs: [job('clean', { removesByAge: true }), job('count', {})] }),
    });
    const service = await boot([plugin]);
    const runBoth = async (): Promise<string[]> => {
      for (const name of ['clean', 'count']) await service.runJob(`attic.${name}`);
      return ran.splice(0);
    };
    expect(await runBoth()).to.deep.equal(['clean', 'count']);
    service.clock.set(service.clock.now() + YEAR_MS);
    expect(await runBoth()).to.deep.equal(['count']);
    service.clock.set(service.clock.now() - YEAR_MS);
    expect(await runBoth()).to.deep.equal(['clean', 'count']);
    await service.stop();
  });
});
