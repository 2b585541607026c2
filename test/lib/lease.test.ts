/** Leases over the memory store, with clocks that the test moves (contract 30, runs). */
import { expect } from 'chai';
import { MemoryStore } from '../../adapters/memory/store.js';
import { Lease, LeaseLost, type LeaseOptions, type LeaseRow, type LeaseRows } from '../../lib/lease.js';
import type { Collection } from '../../ports/store/index.js';
import { waitUntil } from '../harness.js';

const TTL = 45_000;

class Clock {
  time = Date.parse('2026-11-20T08:00:00.000Z');
  up = 0;
  now = (): number => this.time;
  monotonic = (): number => this.up;

  pass(ms: number): void {
    this.time += ms;
    this.up += ms;
  }
}

function fixture(): {
  lease: (over?: Partial<LeaseOptions>) => Lease;
  row: () => Promise<LeaseRow | null>;
  rows: Collection<LeaseRow>;
  clock: Clock;
} {
  const rows = new MemoryStore().collection<LeaseRow>('leases');
  const clock = new Clock();
  let n = 0;
  const options: LeaseOptions = {
    id: 'evaluator',
    ttlMs: TTL,
    expiryMode: 'clock',
    clock,
    uuid: () => `holder-${++n}`,
    onFault: (error) => {
      throw error;
    },
  };
  return { lease: (over) => new Lease(rows, { ...options, ...over }), row: () => rows.get('evaluator'), rows, clock };
}

const lost = async (work: () => unknown): Promise<boolean> => {
  try {
    await work();
    return false;
  } catch (error) {
    expect(error).to.be.instanceOf(LeaseLost);
    return true;
  }
};

describe('lib: lease', () => {
  it('is granted to one of many callers, and to the next holder with a higher number', async () => {
    const { lease } = fixture();
    const taken = (await Promise.all([1, 2, 3, 4].map(() => lease().acquire()))).filter((held) => held !== null);
    expect(taken).to.have.length(1);
    expect(taken[0]?.fence).to.equal(1);
    await taken[0]?.release();
    const next = await lease().acquire();
    expect(next?.fence).to.equal(2);
    await next?.release();
  });

  it('by clock: is held for its lifetime and free afterwards', async () => {
    const { lease, clock } = fixture();
    const held = await lease().acquire();
    clock.pass(TTL - 1);
    expect(await lease().acquire()).to.equal(null);
    clock.pass(1);
    const next = await lease().acquire();
    expect(next?.fence).to.equal(2);
    expect(await lost(() => held?.confirm())).to.equal(true);
    expect(held?.signal.aborted).to.equal(true);
    await held?.release();
    expect(await lease().acquire(), 'a lost lease frees nothing').to.equal(null);
    await next?.release();
  });

  it('by clock: treats a time too far in the future as a clock that moved backwards', async () => {
    const { lease, clock } = fixture();
    const held = await lease().acquire();
    clock.time -= 31_000;
    const next = await lease().acquire();
    expect(next?.hasClockMovedBack).to.equal(true);
    await held?.release();
    await next?.release();
  });

  it('by renewal: stays with a live holder, regardless of the clocks', async () => {
    const { lease, clock } = fixture();
    const held = await lease({ expiryMode: 'silence' }).acquire();
    const waiter = lease({ expiryMode: 'silence' });
    for (let i = 0; i < 5; i++) {
      clock.time += 3_600_000;
      clock.up += TTL - 1;
      await held?.confirm();
      expect(await waiter.acquire()).to.equal(null);
    }
    clock.up += TTL;
    const next = await waiter.acquire();
    expect(next?.fence).to.equal(2);
    await held?.release();
    await next?.release();
  });

  it('is renewed while held, even if the clock stands still', async () => {
    const { lease, row, clock } = fixture();
    const held = await lease({ expiryMode: 'silence', ttlMs: 20 }).acquire();
    const waiter = lease({ expiryMode: 'silence', ttlMs: 20 });
    expect(await waiter.acquire()).to.equal(null);
    await waitUntil('it is renewed', async () => ((await row())?.beat ?? 0) >= 3);
    clock.pass(30);
    expect(await waiter.acquire()).to.equal(null);
    await held?.release();
    await (await waiter.acquire())?.release();
  });

  it('replaces a document in an earlier format', async () => {
    const { lease, rows, clock } = fixture();
    await rows.insert({ id: 'evaluator', holder: 'dead', beat: 5 });
    const waiter = lease({ expiryMode: 'silence' });
    expect(await waiter.acquire()).to.equal(null);
    clock.pass(TTL);
    const held = await waiter.acquire();
    expect(held?.fence).to.equal(1);
    await held?.release();
  });

  it('is lost when its holder could not renew it in time', async () => {
    const { lease, clock } = fixture();
    const held = await lease().acquire();
    held?.check();
    clock.up += TTL + 1;
    expect(await lost(() => held?.check())).to.equal(true);
    await held?.confirm();
    held?.check();
    await held?.release();
  });

  it('aborts the signal when renewals fail for the lifetime of the lease', async () => {
    const { rows, clock } = fixture();
    let away = false;
    const faults: unknown[] = [];
    const flaky = {
      get: (id: string) => rows.get(id),
      change: async (...args: Parameters<typeof rows.change>) => {
        if (away) throw new Error('the store is away');
        return rows.change(...args);
      },
    };
    const options = { id: 'x', ttlMs: 60, expiryMode: 'clock', clock, uuid: () => 'me' } as const;
    const held = await new Lease(flaky, { ...options, onFault: (error) => void faults.push(error) }).acquire();
    away = true;
    await waitUntil('the signal aborts', async () => held?.signal.aborted === true);
    expect(faults).not.to.deep.equal([]);
    away = false;
    await held?.release();
  });

  it('is transferred from a dead owner immediately', async () => {
    const { lease } = fixture();
    const held = await lease({ owner: { pid: 1 } }).acquire();
    const ownerDead = async (owner: object): Promise<boolean> => 'pid' in owner && owner.pid === 1;
    const next = await lease({ owner: { pid: 2 }, ownerDead }).acquire();
    expect(next?.fence).to.equal(2);
    expect(await lease({ ownerDead }).acquire()).to.equal(null);
    await held?.release();
    await next?.release();
  });

  it('is acquired in one write when no document exists, and stores extra fields on renewal', async () => {
    const { rows, clock } = fixture();
    let writes = 0;
    const counted: LeaseRows = {
      get: (id) => rows.get(id),
      change: (...args) => {
        writes += 1;
        return rows.change(...(args as Parameters<typeof rows.change>));
      },
    };
    const options = {
      id: 'x',
      ttlMs: TTL,
      expiryMode: 'clock',
      clock,
      uuid: () => 'me',
      onFault: () => undefined,
    } as const;
    const held = await new Lease(counted, options).acquire();
    expect(writes).to.equal(1);
    await held?.confirm({ note: 'begun' });
    expect(writes).to.equal(2);
    expect(await rows.get('x')).to.include({ holder: 'me', fence: 1, beat: 1, note: 'begun' });
    held?.stop();
  });

  it('leaves a free document after its release', async () => {
    const { lease, row } = fixture();
    const held = await lease({ owner: { pid: 1 } }).acquire();
    expect(await row()).to.include({ holder: 'holder-1', expires_at: '2026-11-20T08:00:45.000Z' });
    await held?.release();
    expect(await row()).to.include({ holder: null, fence: 1 });
  });
});
