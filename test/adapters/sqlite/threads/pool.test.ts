/** The pool begins with one thread, and a slow query holds up no others. */
import { expect } from 'chai';
import { Pool } from '../../../../adapters/sqlite/threads/pool.js';

const SLOW_MS = 3_000;

describe('sqlite pool', function () {
  this.timeout(20_000);
  const opened = async (threads: number): Promise<Pool> => {
    const module = new URL('../support/slow-worker.js', import.meta.url);
    const pool = new Pool({ module, connection: { path: '', durability: 'full' }, threads, send: 'one' });
    await pool.start();
    return pool;
  };

  it('starts another thread when a query waits for a slow one', async () => {
    const pool = await opened(2);
    const order: unknown[] = [];
    await Promise.all([
      pool.call(['count', '', String(SLOW_MS)]).then((value) => order.push(value)),
      pool.call(['count', '', '0']).then((value) => order.push(value)),
    ]);
    expect(order).to.deep.equal(['0', String(SLOW_MS)]);
    await pool.close();
  });

  it('closes while it starts one, and answers what was asked', async () => {
    const pool = await opened(2);
    const slow = pool.call(['count', '', '200']);
    const waiting = pool.call(['count', '', '1']);
    await pool.close();
    expect(await Promise.all([slow, waiting])).to.deep.equal(['200', '1']);
  });

  it('has no more threads than it may', async () => {
    const pool = await opened(1);
    const order: unknown[] = [];
    await Promise.all(
      ['300', '0', '1'].map((text) => pool.call(['count', '', text]).then((value) => order.push(value))),
    );
    expect(order).to.deep.equal(['300', '0', '1']);
    await pool.close();
  });
});
