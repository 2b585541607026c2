import { expect } from 'chai';
import fc from 'fast-check';
import { parseBasicCredentials } from '../../../../adapters/hapi/access/basic.js';
import type {
  BasicCredentials,
  BasicGuard,
  BasicRequest,
  RequestRejection,
  RouteSpec,
} from '../../../../ports/http/index.js';
import { fakeAuthenticator, NO_LIMITS, TestServer } from '../support.js';

const basic = (text: string | Buffer): string => `Basic ${Buffer.from(text).toString('base64')}`;

describe('hapi: HTTP Basic', () => {
  it('parses any user name and password', () => {
    const part = fc.string({ unit: 'grapheme', maxLength: 60 }).filter((text) => !/\p{Cc}/u.test(text));
    const name = part.filter((text) => !text.includes(':'));
    fc.assert(
      fc.property(name, part, (username, password) => {
        expect(parseBasicCredentials(basic(`${username}:${password}`))).to.deep.equal({ username, password });
      }),
    );
  });

  const malformed: [what: string, header: string | undefined][] = [
    ['no header', undefined],
    ['another scheme', 'Bearer YTpi'],
    ['no credential', 'Basic '],
    ['no colon', basic('ab')],
    ['no base64', 'Basic a:b'],
    ['base64 without its padding', 'Basic YTpiYw'],
    ['two credentials', 'Basic YTpi YTpi'],
    ['no UTF-8', basic(Buffer.from([0x61, 0x3a, 0xff]))],
    ['a NUL', basic('a:b\0c')],
    ['a line break', basic('a\n:b')],
    ['more than 3 KiB', basic(`a:${'x'.repeat(4_000)}`)],
  ];
  for (const [what, header] of malformed) {
    it(`ignores a header with ${what}`, () => expect(parseBasicCredentials(header)).to.equal(null));
  }

  describe('as route authentication', () => {
    const seen: [BasicCredentials | null, BasicRequest][] = [];
    const refusals: RequestRejection[] = [];
    const guard: BasicGuard = {
      realm: 'Releases of "shop"',
      authorize: async (given, request) => {
        seen.push([given, request]);
        const { params } = request;
        if (params['product'] === 'open') return { open: true, username: null };
        if (params['product'] === 'hidden') return { open: false, code: 'not_found', message: 'Nothing.' };
        if (params['product'] === '.ht') return { open: false, code: 'insufficient_scope', message: 'Never.' };
        if (given?.password === 'wait')
          return { open: false, code: 'rate_limited', message: 'Later.', retry_after: 7.2 };
        if (given?.password === 'right') return { open: true, username: given.username };
        return { open: false, code: 'unauthorized', message: 'A license key is needed.' };
      },
    };
    const route: RouteSpec = {
      method: 'GET',
      path: '/files/{product}/{rest*}',
      summary: 'test',
      access: { basic: guard },
      handle: ({ principal, headers }) => ({ principal, authorization: headers['authorization'] ?? null }),
    };
    let test: TestServer;
    beforeEach(async () => {
      seen.length = 0;
      refusals.length = 0;
      const limits = { ...NO_LIMITS, auth_failures_per_minute: 2, public_per_minute: 5 };
      const rejected = (refusal: RequestRejection): void => void refusals.push(refusal);
      test = await TestServer.create(
        { routes: [route] },
        { limits },
        { ...fakeAuthenticator, recordRejection: rejected },
      );
    });
    const ask = (path: string, authorization?: string) =>
      test.ask('GET', path, { headers: { ...(authorization !== undefined && { authorization }) } });

    it('sends its own challenge, in the envelope', async () => {
      const answer = await ask('/files/shop/a.txt');
      expect([answer.status, answer.code]).to.deep.equal([401, 'unauthorized']);
      expect(answer.headers['www-authenticate']).to.equal(
        String.raw`Basic realm="Releases of \"shop\"", charset="UTF-8"`,
      );
      expect(answer.body['error']?.['message']).to.equal('A license key is needed.');
      expect(seen[0]?.[0]).to.equal(null);
      expect(seen[0]?.[1].params).to.deep.equal({ product: 'shop', rest: 'a.txt' });
      expect(refusals).to.deep.equal([]);
    });

    it('admits the users that the guard accepts, and hides the credential from the handler', async () => {
      const answer = await ask('/files/shop/a.txt', basic('ann:right'));
      expect([answer.status, answer.body['principal']]).to.deep.equal([200, { kind: 'basic', username: 'ann' }]);
      expect(answer.body['authorization']).to.equal(null);
      expect(seen[0]?.[1].headers['authorization']).to.equal(undefined);
      expect((await ask('/files/open/a.txt')).body['principal']).to.deep.equal({ kind: 'basic', username: null });
    });

    it('rejects Bearer tokens, and writes failed logins to the security log', async () => {
      expect((await ask('/files/shop/a', 'Bearer master:a:b')).status).to.equal(401);
      expect((await ask('/files/shop/a', basic('ann:wrong'))).status).to.equal(401);
      expect(refusals.map(({ what, path }) => [what, path])).to.deep.equal([
        ['credential', route.path],
        ['credential', route.path],
      ]);
    });

    it('returns 403, 404 and 429 as returned by the guard', async () => {
      const never = await ask('/files/.ht/x');
      expect([never.status, never.code]).to.deep.equal([403, 'insufficient_scope']);
      expect((await ask('/files/hidden/x')).status).to.equal(404);
      const later = await ask('/files/shop/a', basic('ann:wait'));
      expect([later.status, later.code, later.headers['retry-after']]).to.deep.equal([429, 'rate_limited', '8']);
      expect(later.headers['ratelimit-reset']).to.equal('8');
      expect(never.headers).not.to.have.property('www-authenticate');
    });

    it('counts 401 responses per address, and still accepts a valid credential', async () => {
      for (const status of [401, 401, 429]) expect((await ask('/files/shop/a')).status).to.equal(status);
      expect((await ask('/files/shop/a', basic('ann:right'))).status).to.equal(200);
    });

    it('counts the call before it runs the guard', async () => {
      for (let i = 0; i < 5; i++) expect((await ask('/files/open/a')).status).to.equal(200);
      const rejected = await ask('/files/open/a');
      expect([rejected.status, rejected.headers['ratelimit-limit']]).to.deep.equal([429, '5']);
      expect(seen).to.have.length(5);
    });

    it('returns 405 for another method before any 401', async () => {
      const answer = await test.ask('POST', '/files/shop/a', { json: {} });
      expect([answer.status, answer.headers['allow']]).to.deep.equal([405, 'GET, HEAD']);
    });

    it('rejects a combination with other access rules', async () => {
      const both: RouteSpec = { ...route, access: [{ basic: guard }, { anyToken: true }] };
      let thrown: unknown = null;
      await TestServer.create({ routes: [both] }).catch((error: unknown) => (thrown = error));
      expect(String(thrown)).to.contain('cannot be combined');
    });
  });
});
