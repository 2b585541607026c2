import { expect } from 'chai';
import { BudgetedReadings } from '../../../../plugins/bugs/lists/budgeted-readings.js';

describe('bugs: readings with a budget', () => {
  let now: number;
  let readings: BudgetedReadings<number>;
  let read: string[];

  /** A reading that takes so many milliseconds of the test's clock. */
  const taking =
    (ms: number, key: string): (() => Promise<number>) =>
    async () => {
      read.push(key);
      await Promise.resolve();
      now += ms;
      return read.length;
    };
  const take = (key: string, ms = 2): Promise<number | null> => readings.take(key, taking(ms, key));

  beforeEach(() => {
    now = 1000;
    read = [];
    readings = new BudgetedReadings<number>({
      share: 0.05,
      burstMs: 100,
      patienceMs: 20,
      staleMs: 60_000,
      monotonic: () => now,
    });
  });

  it('are as old as they are dear', async () => {
    expect(await take('a', 2)).to.equal(1);
    now += 39;
    expect(await take('a', 2)).to.equal(1);
    now += 1;
    expect(await take('a', 2)).to.equal(2);
  });

  it('take their share of the time, for any number of requests', async () => {
    let spent = 0;
    for (let i = 0; i < 1000; i++) {
      const before = read.length;
      await take(`key ${i}`, 30);
      spent += (read.length - before) * 30;
      now += 10;
    }
    const passed = now - 1000;
    expect(spent).to.be.at.most(passed * 0.05 + 100 + 30);
    expect(spent).to.be.at.least(passed * 0.04);
  });

  it('return an older value without budget, and nothing where none exists', async () => {
    await take('a', 2);
    await take('b', 500);
    now += 1000;
    expect(await take('a')).to.equal(1);
    expect(await take('c')).to.equal(null);
    expect(read).to.deep.equal(['a', 'b']);
    now += 60_000;
    expect(await take('a')).to.equal(3);
  });

  it('return without waiting, and are cached for the next request', async () => {
    let end: (value: number) => void = () => undefined;
    const slow = new Promise<number>((resolve) => (end = resolve));
    expect(await readings.take('slow', () => slow)).to.equal(null);
    const next = readings.take('slow', () => Promise.reject(new Error('is not asked twice')));
    end(7);
    expect(await next).to.equal(7);
  });

  it('that take longer than a caller waits are not waited for once there is a value', async () => {
    await take('dear', 30);
    now += 600;
    let end: (value: number) => void = () => undefined;
    const next = new Promise<number>((resolve) => (end = resolve));
    // A caller that waited would still wait: nothing ends the new reading before the old value is given out.
    const asked: (number | null)[] = [];
    const first = readings.take('dear', () => next).then((value) => asked.push(value));
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).to.deep.equal([1]);
    end(7);
    await first;
    await new Promise((resolve) => setImmediate(resolve));
    expect(await readings.take('dear', () => Promise.reject(new Error('is fresh')))).to.equal(7);
  });

  it('that fail are none, and are read again', async () => {
    expect(await readings.take('a', () => Promise.reject(new Error('closed')))).to.equal(null);
    expect(await take('a')).to.equal(1);
  });
});
