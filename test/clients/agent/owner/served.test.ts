/** What root's agent does for the child that works as the owner (contract 90, whom it believes): the child may ask for anything. */
import { expect } from 'chai';
import { Failure } from '../../../../clients/agent/exit.js';
import type { Wish } from '../../../../clients/agent/owner/messages.js';
import { Served } from '../../../../clients/agent/owner/served.js';
import type { Agent } from '../../../../clients/agent/update/installation.js';

const SERVER = 'https://aos.example.com/base/';

describe('update-agent: what a hostile child gets of root', () => {
  let done: string[];

  function served(options: object): Served {
    const note =
      (what: string) =>
      async (...args: unknown[]): Promise<unknown> => {
        done.push(`${what} ${args.map((one) => (one instanceof URL ? one.href : JSON.stringify(one))).join(' ')}`);
        return { status: 200, headers: {}, refused: '', content: [], drop: async () => undefined };
      };
    const network = {
      ask: note('ask'),
      open: async (...args: unknown[]) => {
        await note('open')(...args);
        return {
          status: 200,
          headers: {},
          refused: '',
          content: (async function* () {})(),
          drop: async () => undefined,
        };
      },
      login: async () => ({ get: note('get'), post: note('post') }),
      close: async () => undefined,
    };
    const agent = {
      options: { server: new URL(SERVER), project: 'shop', ...options },
      network,
      control: note('control'),
    };
    return new Served(agent as unknown as Agent);
  }

  async function refused(options: object, wish: object): Promise<void> {
    const one = served(options);
    await one.answer({ call: 'login' });
    done = [];
    let failure: unknown = null;
    await one.answer(wish as Wish).catch((error: unknown) => (failure = error));
    expect(failure, JSON.stringify(wish)).to.be.instanceOf(Failure);
    expect(done).to.deep.equal([]);
  }
  beforeEach(() => (done = []));

  it('nothing of another server, another route or another project', async () => {
    const wishes = [
      { call: 'ask', url: 'https://evil.example.com/base/api/updateservice/v1/check', most: 10 },
      { call: 'ask', url: 'https://aos.example.com/base/api/setup/v1/login', most: 10 },
      { call: 'ask', url: 'https://aos.example.com/api/updateservice/v1/check', most: 10 },
      { call: 'open', url: 'https://evil.example.com/base/releases/shop/stable/1/any/package.tar.gz', headers: {} },
      { call: 'open', url: 'https://aos.example.com/base/releases/other/stable/1/any/package.tar.gz', headers: {} },
      { call: 'open', url: 'https://aos.example.com/base/api/access/v1/self', headers: {} },
      { call: 'open', url: 'https://aos.example.com/base/releases/shop/../../api/x', headers: {} },
      { call: 'get', route: '../access/v1/tokens', query: {}, most: 10 },
      { call: 'post', route: 'login', content: {}, most: 10 },
      { call: 'post', route: 'token', content: { project: 'other' }, most: 10 },
      { call: 'run', verb: 'id' },
    ];
    for (const wish of wishes) await refused({}, wish);
  });

  it('no service that root did not name, and no other verb', async () => {
    await refused({ restart: true, service: null }, { call: 'control', verb: 'stop' });
    await refused({ restart: false, service: 'shop' }, { call: 'control', verb: 'stop' });
    await refused({ restart: true, service: 'shop' }, { call: 'control', verb: 'mask' });
    await served({ restart: true, service: 'shop' }).answer({ call: 'control', verb: 'stop' });
    expect(done).to.deep.equal(['control "stop" "shop"']);
  });

  it('no header but a range, and no more bytes than the largest answer', async () => {
    const one = served({});
    const url = `${SERVER}releases/shop/stable/1/any/package.tar.gz`;
    await one.answer({ call: 'open', url, headers: { range: 'bytes=5-', authorization: 'Basic x', host: 'evil' } });
    await one.answer({ call: 'ask', url: `${SERVER}api/updateservice/v1/check?product=shop`, most: Number.MAX_VALUE });
    expect(done).to.deep.equal([
      `open ${url} {"accept-encoding":"identity","range":"bytes=5-"}`,
      `ask ${SERVER}api/updateservice/v1/check?product=shop 0`,
    ]);
  });
});
