/** The pool begins with one thread, and a slow query holds up no others. */
import { expect } from 'chai';
import { until } from '../../../harness.js';
import { Pool } from '../../../../adapters/sqlite/threads/pool.js';

const SLOW_MS = 3_000;

describe('sqlite pool', function () {
  const opened = async (threads: number, idleMs?: number): Promise<Pool> => {
    const module = new URL('../support/slow-worker.js', import.meta.url);
    const pool = new Pool({ module, connection: { path: '', durability: 'full' }, threads, send: 'one', idleMs });
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

  it('closes while it starts one, and answers pending requests', async () => {
    const pool = await opened(2);
    const slow = pool.call(['count', '', '200']);
    const waiting = pool.call(['count', '', '1']);
    await pool.close();
    expect(await Promise.all([slow, waiting])).to.deep.equal(['200', '1']);
  });

  it('ends an idle thread, and starts one again', async () => {
    const pool = await opened(2, 50);
    for (let turn = 0; turn < 2; turn++) {
      await Promise.all([pool.call(['count', '', String(SLOW_MS)]), pool.call(['count', '', '0'])]);
      await until('one thread', () => pool.size === 1);
      expect(await pool.call(['count', '', '7'])).to.equal('7');
    }
    await pool.close();
  });

  it('closes while a thread ends', async () => {
    const pool = await opened(2, 1);
    await Promise.all([pool.call(['count', '', String(SLOW_MS)]), pool.call(['count', '', '0'])]);
    await until('one thread', () => pool.size === 1);
    await pool.close();
  });

  it('has at most the allowed number of threads', async () => {
    const pool = await opened(1);
    const order: unknown[] = [];
    await Promise.all(
      ['300', '0', '1'].map((text) => pool.call(['count', '', text]).then((value) => order.push(value))),
    );
    expect(order).to.deep.equal(['300', '0', '1']);
    await pool.close();
  });
});
