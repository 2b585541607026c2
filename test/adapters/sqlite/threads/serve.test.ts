/**
 * Answers come in the order of the requests, and together where these have arrived together
 * (serve.ts).
 */
import { expect } from 'chai';
import { once } from 'node:events';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { RequestOutcome, StorageRequest } from '../../../../adapters/sqlite/threads/messages.js';
import { CLOSE_MESSAGE, serveRequests } from '../../../../adapters/sqlite/threads/request-server.js';

const request = (n: number): StorageRequest => ['get', '', String(n)];

describe('sqlite: worker thread', () => {
  let port: MessagePort;
  let answered: unknown[];
  let batches: number[];
  let closed: boolean;

  const served = (most: number): void => {
    const { port1, port2 } = new MessageChannel();
    port = port1;
    [answered, batches, closed] = [[], [], false];
    serveRequests<StorageRequest>(port2, {
      answer: (batch) => {
        batches.push(batch.length);
        return batch.map(([, , value]): RequestOutcome => ({ value }));
      },
      close: () => (closed = true),
      most,
    });
    port.on('message', (outcomes: readonly { value: unknown }[] | string) => {
      if (typeof outcomes !== 'string') answered.push(...outcomes.map(({ value }) => value));
    });
  };
  const numbers = Array.from({ length: 40 }, (_, n) => n);

  for (const most of [1, 4, 256]) {
    it(`answers requests in order, at most ${most} per batch, and exits after them`, async () => {
      served(most);
      for (const n of numbers.filter((one) => one % 2 === 0)) port.postMessage([request(n), request(n + 1)]);
      port.postMessage(CLOSE_MESSAGE);
      await once(port, 'close');
      expect(answered).to.deep.equal(numbers.map(String));
      expect(Math.max(...batches)).to.be.at.most(most);
      expect(closed).to.equal(true);
    });
  }

  it('handles messages that have arrived together as a batch', async () => {
    served(256);
    for (const n of numbers) port.postMessage([request(n)]);
    port.postMessage(CLOSE_MESSAGE);
    await once(port, 'close');
    expect(batches).to.deep.equal([numbers.length]);
  });
});
