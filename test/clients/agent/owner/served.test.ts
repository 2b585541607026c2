/**
 * What root's agent does for the child that works as the owner (contract 90, whom it believes): the
 * child may ask for anything.
 */
import { expect } from 'chai';
import { AgentFailure } from '../../../../clients/agent/exit.js';
import type { OwnerRequest } from '../../../../clients/agent/owner/messages.js';
import { OwnerRequestHandler, type ParentContext } from '../../../../clients/agent/owner/request-handler.js';
import type { Agent } from '../../../../clients/agent/update/installation.js';

const SERVER = 'https://aos.example.com/base/';

describe('update-agent: requests from a malicious child process to root', () => {
  let done: string[];

  function served(options: object, known: Partial<ParentContext> = {}): OwnerRequestHandler {
    const note =
      (what: string) =>
      async (...args: unknown[]): Promise<unknown> => {
        done.push(`${what} ${args.map((one) => (one instanceof URL ? one.href : JSON.stringify(one))).join(' ')}`);
        return { status: 200, headers: {}, refused: '', content: [], drop: async () => undefined };
      };
    const network = {
      getJson: note('ask'),
      openPackage: async (...args: unknown[]) => {
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
      options: { server: new URL(SERVER), project: 'shop', action: 'install', yes: true, replace: false, ...options },
      network,
      control: note('control'),
    };
    return new OwnerRequestHandler(agent as unknown as Agent, { product: 'shop', account: true, ...known });
  }

  async function rejected(options: object, wish: object): Promise<void> {
    const one = served(options);
    await one.handle({ call: 'login' }).catch(() => undefined);
    done = [];
    let failure: unknown = null;
    await one.handle(wish as OwnerRequest).catch((error: unknown) => (failure = error));
    expect(failure, JSON.stringify(wish)).to.be.instanceOf(AgentFailure);
    expect(done).to.deep.equal([]);
  }
  beforeEach(() => (done = []));

  it('rejects requests to another server, route or project', async () => {
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
    for (const wish of wishes) await rejected({}, wish);
  });

  it('rejects setup requests during an update, and setup requests that the action does not need', async () => {
    const token = { call: 'post', route: 'token', content: { project: 'shop' }, most: 10 };
    const machine = { call: 'post', route: 'agent', content: { name: 'm' }, most: 10 };
    const catalog = { call: 'get', route: 'catalog', query: {}, most: 10 };
    for (const action of ['update', 'recover']) {
      for (const wish of [token, machine, catalog]) await rejected({ action }, wish);
      await rejected({ action }, { call: 'login' });
    }
    await rejected({ action: 'configure' }, machine);
    await rejected({ action: 'configure' }, catalog);
    await rejected({ action: 'monitor' }, token);
  });

  it('rejects token requests without a project of root, and allows only packages of the installed project', async () => {
    for (const project of ['shop', 'payments', undefined])
      await rejected({ project: null }, { call: 'post', route: 'token', content: { project }, most: 10 });
    await rejected(
      { project: null, action: 'monitor' },
      { call: 'post', route: 'agent', content: { project: 'x' }, most: 1 },
    );
    const url = `${SERVER}releases/payments/stable/1/any/package.tar.gz`;
    await rejected({ project: null, action: 'update' }, { call: 'open', url, headers: {} });
  });

  it('rejects replacing another machine’s token, unless root allows it', async () => {
    const wish = { call: 'post', route: 'agent', content: { name: 'db-1', replace: true }, most: 10 };
    await rejected({ action: 'monitor' }, wish);
    const one = served({ action: 'monitor', replace: true });
    await one.handle({ call: 'login' });
    await one.handle(wish as OwnerRequest);
    expect(done).to.deep.equal(['post "agent" {"name":"db-1","replace":true} 10']);
  });

  it('does not prompt on root’s terminal for an account that was not requested at startup', async () => {
    const one = served({}, { account: false });
    expect(await one.handle({ call: 'login' })).to.equal(false);
    await rejected({}, { call: 'post', route: 'token', content: { project: 'x' }, most: 10 });
  });

  it('rejects services that root did not name, and other service actions', async () => {
    await rejected({ restart: true, service: null }, { call: 'control', verb: 'stop' });
    await rejected({ restart: false, service: 'shop' }, { call: 'control', verb: 'stop' });
    await rejected({ restart: true, service: 'shop' }, { call: 'control', verb: 'mask' });
    await served({ restart: true, service: 'shop' }).handle({ call: 'control', verb: 'stop' });
    expect(done).to.deep.equal(['control "stop" "shop"']);
  });

  it('forwards only the Range header, and limits the size of responses', async () => {
    const one = served({});
    const url = `${SERVER}releases/shop/stable/1/any/package.tar.gz`;
    await one.handle({ call: 'open', url, headers: { range: 'bytes=5-', authorization: 'Basic x', host: 'evil' } });
    await one.handle({ call: 'ask', url: `${SERVER}api/updateservice/v1/check?product=shop`, most: Number.MAX_VALUE });
    expect(done).to.deep.equal([
      `open ${url} {"accept-encoding":"identity","range":"bytes=5-"}`,
      `ask ${SERVER}api/updateservice/v1/check?product=shop 0`,
    ]);
  });
});
