/** What a report of a known group costs the store: the error intake lives on it. */
import { expect } from 'chai';
import type { Collection, Doc } from '../../../../ports/store.js';
import { errorReport, memoryFixture, settled, fixtureOn, type Fixture } from '../fixture.js';

/** The fixture's store, with every call noted as `collection.method`. */
function noted(fixture: Fixture): { fixture: Fixture; calls: string[] } {
  const calls: string[] = [];
  const store = Object.create(fixture.store) as Fixture['store'];
  store.collection = <T extends Doc>(name: string): Collection<T> =>
    new Proxy(fixture.store.collection<T>(name), {
      get: (target, method) => {
        const inner = Reflect.get(target, method) as (...args: unknown[]) => unknown;
        return (...args: unknown[]): unknown => {
          calls.push(`${name.replace('bugs_', '')}.${String(method)}`);
          return inner.apply(target, args);
        };
      },
    });
  return {
    fixture: fixtureOn(store, fixture.clock, (deps) => Object.assign(deps, { random: () => 0.999_999 })),
    calls,
  };
}

describe('bugs: the cost of an occurrence', () => {
  let fixture: Fixture;
  let calls: string[];
  beforeEach(async () => {
    const plain = await memoryFixture();
    for (let i = 0; i < 60; i++) await plain.bugs.record(errorReport());
    await settled(plain);
    ({ fixture, calls } = noted(plain));
  });

  it('of a known group is one read by id and one write', async () => {
    await fixture.bugs.record(errorReport());
    expect(calls).to.deep.equal(['keys.get', 'items.change']);
  });

  it('with a client_ref is one read and two writes more, one of them behind the answer', async () => {
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(fixture);
    expect(calls).to.deep.equal(['keys.get', 'refs.get', 'refs.insert', 'items.change', 'refs.bulk']);
  });

  it('that repeats a client_ref is two reads, its key having been met lately', async () => {
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    await settled(fixture);
    calls.length = 0;
    await fixture.bugs.record(errorReport({ client_ref: 'r' }));
    expect(calls).to.deep.equal(['refs.get', 'items.get']);
  });
});
