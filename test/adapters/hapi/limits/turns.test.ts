/** Reading with a credential: a few at once, and addresses take turns. */
import { request } from 'node:http';
import { expect } from 'chai';
import { Redirect } from '../../../../ports/http/index.js';
import { waitUntil } from '../../../harness.js';
import { TestServer } from '../support.js';

interface Held {
  from: string;
  answer: () => void;
}

const KINDS: readonly [name: string, atWork: number, status: number, server: (held: Held[]) => Promise<TestServer>][] =
  [
    [
      'readings with a credential',
      32,
      200,
      (held) =>
        TestServer.create({
          routes: [
            {
              method: 'GET',
              path: '/held',
              summary: 'test',
              access: { anyToken: true },
              limits: { rate: 'none' },
              handle: ({ address }) =>
                new Promise((resolve) => held.push({ from: address, answer: () => resolve({}) })),
            },
          ],
        }),
    ],
    [
      'pages without a session',
      4,
      303,
      (held) =>
        TestServer.create({
          pages: [
            {
              path: '/held',
              title: 'held',
              access: 'public',
              handle: ({ address }) =>
                new Promise((resolve) => held.push({ from: address, answer: () => resolve(new Redirect('/')) })),
            },
          ],
        }),
    ],
  ];

for (const [name, atWork, status, server] of KINDS)
  describe(`hapi: hundreds of ${name} from one address`, () => {
    it('alternate with requests of the next address, and are all answered', async () => {
      const held: Held[] = [];
      const test = await server(held);
      await test.start();
      const ask = (from: string): Promise<number | undefined> =>
        new Promise((resolve, reject) => {
          const headers = status === 200 ? { authorization: 'Bearer master:a:b' } : {};
          request(`${test.url}/held`, { headers, localAddress: from, agent: false }, (answer) =>
            answer.resume().once('end', () => resolve(answer.statusCode)),
          )
            .once('error', reject)
            .end();
        });
      const many = Array.from({ length: 100 }, () => ask('127.0.0.2'));
      await waitUntil('as many as may are at work', () => held.length === atWork);
      const one = ask('127.0.0.3');
      // Anyone who comes behind it is answered, so it has arrived.
      for (let i = 0; i < 5; i++) await fetch(`${test.url}/none`, { headers: { connection: 'close' } });
      for (let i = 0; !held.some(({ from }) => from === '127.0.0.3'); i++) {
        expect(i, 'let in before').to.be.below(90);
        held[i]?.answer();
        await many[i];
      }
      const before = held.length;
      held.at(-1)?.answer();
      expect(await one).to.equal(status);
      expect(before).to.be.below(atWork + 28);
      await waitUntil('all are at work or answered', () => {
        for (const { answer } of held) answer();
        return held.length === 101;
      });
      expect(new Set(await Promise.all(many))).to.deep.equal(new Set([status]));
      await test.stop();
    });
  });

describe('hapi: long-polling calls', () => {
  it('delay no other call, regardless of their number', async () => {
    const held: (() => void)[] = [];
    const access = { anyToken: true } as const;
    const common = { method: 'GET', summary: 'test', access, limits: { rate: 'none' } } as const;
    const test = await TestServer.create({
      routes: [
        {
          ...common,
          path: '/next',
          waits: () => true,
          handle: () => new Promise((resolve) => held.push(() => resolve({}))),
        },
        { ...common, path: '/list', handle: () => ({}) },
      ],
    });
    await test.start();
    const headers = { authorization: 'Bearer master:a:b' };
    const waiting = Array.from({ length: 40 }, () => fetch(`${test.url}/next`, { headers }));
    await waitUntil('all of them wait', () => held.length === waiting.length);
    expect((await fetch(`${test.url}/list`, { headers })).status).to.equal(200);
    for (const go of held) go();
    for (const { status } of await Promise.all(waiting)) expect(status).to.equal(200);
    await test.stop(5_000);
  });
});
