/** Who serves a store together (contract 95, several processes). */
import { expect } from 'chai';
import { MemoryStore } from '../../../adapters/memory/store.js';
import { PeerCounter } from '../../../adapters/mongodb/peer-counter.js';
import { RandomIds } from '../../../adapters/node/ids.js';
import { StoreUnavailable, type Collection, type Doc } from '../../../ports/store/index.js';
import { ManualClock } from '../../kit/clock.js';
import { RecordingLog } from '../../kit/fakes.js';

class AwayStore extends MemoryStore {
  away = false;
  override collection<T extends Doc>(name: string): Collection<T> {
    const inner = super.collection<T>(name);
    return new Proxy(inner, {
      get: (_, method) => {
        if (this.away) return () => Promise.reject(new StoreUnavailable());
        const own: unknown = Reflect.get(inner, method);
        return typeof own === 'function' ? own.bind(inner) : own;
      },
    });
  }
}

describe('mongodb: registry of processes', () => {
  let store: AwayStore;
  let clock: ManualClock;
  let log: RecordingLog;
  const peers: PeerCounter[] = [];
  const peer = (): PeerCounter => {
    const made = new PeerCounter({ store, clock, ids: new RandomIds(clock), log, version: '1.0.0' });
    peers.push(made);
    return made;
  };
  beforeEach(() => {
    store = new AwayStore();
    clock = new ManualClock();
    log = new RecordingLog();
  });
  afterEach(async () => {
    store.away = false;
    await Promise.all(peers.splice(0).map((one) => one.stop()));
  });

  it('writes nothing to a store that the process never joined, as after a failed start', async () => {
    store.away = true;
    await peer().stop();
    expect(log.lines).to.deep.equal([]);
  });

  it('counts processes when they start, stop or are killed', async () => {
    const [first, second, third] = [peer(), peer(), peer()];
    expect(first.count).to.equal(1);
    for (const one of [first, second, third]) await one.update();
    for (const one of [first, second]) await one.update();
    expect([first, second, third].map(({ count }) => count)).to.deep.equal([3, 3, 3]);
    await second.stop();
    await first.update();
    expect(first.count).to.equal(2);
    // The third was killed: its document does not change any more, whatever the time of day says.
    clock.set('2030-01-01T00:00:00.000Z');
    clock.advance(29_999);
    await first.update();
    expect(first.count).to.equal(2);
    clock.advance(1);
    await first.update();
    expect(first.count).to.equal(1);
    clock.advance(70_000);
    await first.update();
    expect(await store.collection('kernel_processes').count()).to.equal(1);
  });

  it('retains the process count while the store is unavailable', async () => {
    const [first, second] = [peer(), peer()];
    await second.update();
    await first.start();
    expect(first.count).to.equal(2);
    store.away = true;
    await first.start();
    expect(first.count).to.equal(2);
    expect(log.messages('warn')).to.deep.equal([
      'the processes of this store could not be counted; limits stay unchanged',
    ]);
  });
});
