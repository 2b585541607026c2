import { expect } from 'chai';
import { SingleFlight } from '../../lib/single-flight.js';

/** Calls that end when the test says so. */
class Calls {
  readonly #open: { resolve: (n: number) => void; reject: (error: Error) => void }[] = [];
  begun = 0;

  readonly call = (): Promise<number> => {
    this.begun++;
    return new Promise((resolve, reject) => this.#open.push({ resolve, reject }));
  };

  end(): void {
    this.#open.shift()?.resolve(this.begun);
  }

  fail(): void {
    this.#open.shift()?.reject(new Error('failed'));
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('lib: single flight', () => {
  it('shares the call in progress', async () => {
    const [flights, calls] = [new SingleFlight<number>(), new Calls()];
    const both = [flights.share('a', calls.call), flights.share('a', calls.call)];
    expect(calls.begun).to.equal(1);
    calls.end();
    expect(await Promise.all(both)).to.deep.equal([1, 1]);
    await turn();
    void flights.share('a', calls.call);
    expect(calls.begun).to.equal(2);
  });

  it('separates calls by key', () => {
    const [flights, calls] = [new SingleFlight<number>(), new Calls()];
    void flights.share('a', calls.call);
    void flights.share('b', calls.call);
    expect(calls.begun).to.equal(2);
  });

  it('answers a fresh request with a call that starts after it, shared by all waiting requests', async () => {
    const [flights, calls] = [new SingleFlight<number>(), new Calls()];
    const first = flights.fresh('a', calls.call);
    const later = [flights.fresh('a', calls.call), flights.fresh('a', calls.call), flights.fresh('a', calls.call)];
    expect(calls.begun).to.equal(1);
    calls.end();
    expect(await first).to.equal(1);
    await turn();
    expect(calls.begun).to.equal(2);
    calls.end();
    expect(await Promise.all(later)).to.deep.equal([2, 2, 2]);
  });

  it('rejects only the callers that share the failed call', async () => {
    const [flights, calls] = [new SingleFlight<number>(), new Calls()];
    const first = flights.fresh('a', calls.call);
    const second = flights.fresh('a', calls.call);
    calls.fail();
    expect(await first.catch((error: Error) => error.message)).to.equal('failed');
    await turn();
    calls.end();
    expect(await second).to.equal(2);
  });
});
