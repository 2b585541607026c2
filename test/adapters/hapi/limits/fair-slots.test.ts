import { expect } from 'chai';
import { FairSlots } from '../../../../adapters/hapi/limits/fair-slots.js';

describe('hapi: slots for expensive work', () => {
  it('alternates between owners, regardless of how many requests each owner has', async () => {
    const slots = new FairSlots(1);
    const order: string[] = [];
    const ask = (owner: string): Promise<void> => slots.run(owner, async () => void order.push(owner));
    let open = (): void => undefined;
    const busy = slots.run('a', () => new Promise<void>((resolve) => (open = resolve)));
    const all = [...Array.from({ length: 4 }, () => ask('a')), ask('b'), ask('c'), ask('b')];
    open();
    await Promise.all([busy, ...all]);
    expect(order).to.deep.equal(['a', 'b', 'c', 'a', 'b', 'a', 'a']);
  });

  it('never exceeds its number of slots, and continues after failed work', async () => {
    const slots = new FairSlots(2);
    let now = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setImmediate(resolve));
      now--;
      throw new Error('it fails');
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => slots.run(`o${i % 3}`, work)));
    expect(outcomes.map(({ status }) => status)).to.deep.equal(Array.from({ length: 20 }, () => 'rejected'));
    expect([most, now]).to.deep.equal([2, 0]);
  });
});
