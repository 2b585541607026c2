/** What a report of a known group costs the store: the error intake lives on it. */
import { expect } from 'chai';
import type { Collection, Doc } from '../../../../ports/store.js';
import { errorReport, memoryWorld, settled, worldOn, type World } from '../world.js';

/** The world's store, with every call noted as `collection.method`. */
function noted(world: World): { world: World; calls: string[] } {
  const calls: string[] = [];
  const store = Object.create(world.store) as World['store'];
  store.collection = <T extends Doc>(name: string): Collection<T> =>
    new Proxy(world.store.collection<T>(name), {
      get: (target, method) => {
        const inner = Reflect.get(target, method) as (...args: unknown[]) => unknown;
        return (...args: unknown[]): unknown => {
          calls.push(`${name.replace('bugs_', '')}.${String(method)}`);
          return inner.apply(target, args);
        };
      },
    });
  return { world: worldOn(store, world.clock, (deps) => Object.assign(deps, { random: () => 0.999_999 })), calls };
}

describe('bugs: the cost of an occurrence', () => {
  let world: World;
  let calls: string[];
  beforeEach(async () => {
    const plain = await memoryWorld();
    for (let i = 0; i < 60; i++) await plain.bugs.record(errorReport());
    await settled(plain);
    ({ world, calls } = noted(plain));
  });

  it('of a known group is one read by id and one write', async () => {
    await world.bugs.record(errorReport());
    expect(calls).to.deep.equal(['keys.get', 'items.change']);
  });

  it('with a client_ref is one read and two writes more, one of them behind the answer', async () => {
    await world.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(world);
    expect(calls).to.deep.equal(['keys.get', 'refs.get', 'refs.insert', 'items.change', 'refs.bulk']);
  });

  it('that repeats a client_ref is two reads, its key having been met lately', async () => {
    await world.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(world);
    calls.length = 0;
    await world.bugs.record(errorReport({ client_ref: 'r' }));
    expect(calls).to.deep.equal(['refs.get', 'items.get']);
  });
});
