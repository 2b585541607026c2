/** Reading with a credential: a few at once, and addresses take turns. */
import { request } from 'node:http';
import { expect } from 'chai';
import { until } from '../../../harness.js';
import { TestServer } from '../support.js';

describe('hapi: hundreds of readings from one address', () => {
  it('let the next address in at its turn, and all are answered', async () => {
    const held: { from: unknown; answer: () => void }[] = [];
    const test = await TestServer.create({
      routes: [
        {
          method: 'GET',
          path: '/api/t/v1/held',
          summary: 'test',
          access: { anyToken: true },
          limits: { rate: 'none' },
          handle: ({ address }) => new Promise((resolve) => held.push({ from: address, answer: () => resolve({}) })),
        },
      ],
    });
    await test.start();
    const ask = (from: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = { authorization: 'Bearer master:a:b' };
        request(`${test.url}/api/t/v1/held`, { headers, localAddress: from, agent: false }, (answer) =>
          answer.resume().once('end', () => resolve(answer.statusCode)),
        )
          .once('error', reject)
          .end();
      });
    const many = Array.from({ length: 100 }, () => ask('127.0.0.2'));
    await until('as many as may are at work', () => held.length === 32);
    const one = ask('127.0.0.3');
    // Whoever comes behind it is answered, so it has arrived.
    for (let i = 0; i < 5; i++) await fetch(`${test.url}/none`, { headers: { connection: 'close' } });
    for (let i = 0; !held.some(({ from }) => from === '127.0.0.3'); i++) {
      expect(i, 'let in before').to.be.below(90);
      held[i]?.answer();
      await many[i];
    }
    const before = held.length;
    held.at(-1)?.answer();
    expect(await one).to.equal(200);
    expect(before).to.be.below(60);
    await until('all are at work or answered', () => {
      for (const { answer } of held) answer();
      return held.length === 101;
    });
    expect(new Set(await Promise.all(many))).to.deep.equal(new Set([200]));
    await test.stop();
  });
});
