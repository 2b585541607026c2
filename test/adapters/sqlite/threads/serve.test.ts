/** Answers come in the order of the requests, also where one of them has to be waited for (serve.ts, pool.ts). */
import { expect } from 'chai';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Outcome, Request } from '../../../../adapters/sqlite/threads/messages.js';
import { CLOSE, serve } from '../../../../adapters/sqlite/threads/serve.js';

const request = (n: number | string): Request => ['get', '', String(n)];
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('sqlite serve', () => {
  let port: MessagePort;
  let answered: unknown[];
  let batches: string[][];
  /** Lets those be answered that are waited for. */
  let go: (() => void)[];
  let closed: boolean;

  /** A request named `wait…` is answered by a promise. */
  const served = (most: number): void => {
    const { port1, port2 } = new MessageChannel();
    port = port1;
    [answered, batches, go, closed] = [[], [], [], false];
    serve<Request>(port2, {
      answer: (batch) => {
        const names = batch.map(([, , text]) => text);
        batches.push(names);
        const outcomes = names.map((value): Outcome => ({ value }));
        if (!names.some((name) => name.startsWith('wait'))) return outcomes;
        return new Promise((resolve) => go.push(() => resolve(outcomes)));
      },
      close: () => (closed = true),
      most,
    });
    port.on('message', (outcomes: readonly { value: unknown }[] | string) => {
      if (typeof outcomes !== 'string') answered.push(...outcomes.map(({ value }) => value));
    });
  };
  afterEach(() => port.close());

  const until = async (n: number): Promise<void> => {
    for (const end = Date.now() + 60_000; answered.length < n && Date.now() < end;) await turn();
  };

  for (const most of [1, 4, 256]) {
    it(`answers requests in their order, at most ${most} in one batch`, async () => {
      served(most);
      const asked: string[] = [];
      const ask = (...names: (number | string)[]): void => {
        asked.push(...names.map(String));
        for (const name of names) port.postMessage([request(name)]);
      };
      for (let round = 0; round < 20; round++) {
        ask(`wait ${round}`);
        while (go.length === 0) await turn();
        // These have left the port when the answer is there, the last ones have not.
        ask(`${round} a`, `${round} b`, `${round} c`);
        for (let turns = 0; turns < 5; turns++) await turn();
        ask(`${round} d`, `${round} e`);
        go.shift()?.();
        if (round % 2 === 0) await turn();
        ask(`${round} f`);
        await until(asked.length);
        expect(answered).to.deep.equal(asked);
      }
      for (const batch of batches) expect(batch.length).to.be.at.most(most);
    });
  }

  it('answers the requests before the end, and ends once', async () => {
    served(256);
    port.postMessage([request('wait')]);
    while (go.length === 0) await turn();
    port.postMessage([request(1), request(2)]);
    port.postMessage(CLOSE);
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(closed).to.equal(false);
    const end = once(port, 'close');
    go.shift()?.();
    await end;
    expect(answered).to.deep.equal(['wait', '1', '2']);
    expect(closed).to.equal(true);
  });
});
