/**
 * Limits, addresses and settings of contract 00 on a service with tight ones, behind a proxy and
 * with https outside.
 */
import { expect } from 'chai';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ADMIN_ACCOUNT, QUIET_LOG_SETTINGS, SHARED_KEY, TestService } from '../support/service.js';
import { ask, Browser, createUsers, expectError, PASSWORD, type Wire } from './wire.js';

function expectLimited(answer: Wire): void {
  expectError(answer, 429, 'rate_limited');
  for (const name of ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
    expect(answer.headers.get(name), name).to.match(/^\d+$/);
  expect(Number(answer.headers.get('retry-after'))).to.be.at.least(1);
}

describe('conformance: limits and settings', () => {
  let service: TestService;
  let folder: string;
  let tokens: string[];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-conformance-'));
    await writeFile(join(folder, 'key'), `${SHARED_KEY}-of-a-file\n`);
    await writeFile(join(folder, 'mine.json'), JSON.stringify({ limits: { api_per_minute: 4, public_per_minute: 0 } }));
    service = await TestService.create({
      ...QUIET_LOG_SETTINGS,
      SVC_CONFIG: join(folder, 'mine.json'),
      SVC_SHARED_KEY_FILE: join(folder, 'key'),
      SVC_LIMITS__AUTH_FAILURES_PER_MINUTE: '6',
      SVC_BASE_URL: 'https://aos.example.org/',
      SVC_SERVER__TRUSTED_PROXIES: '["127.0.0.1"]',
      SVC_TOKEN: 'belongs to the companions',
    });
    delete service.env['SVC_SHARED_KEY'];
    await service.startInProcess();
    const master = await service.createToken('bugtracker:report,projects:manage');
    await ask(service, 'POST', '/api/projects/v1/projects', { token: master, body: { slug: 'shop' } });
    const sub = async (): Promise<string> =>
      (await ask(service, 'POST', '/api/tokens/v1/provision', { token: master, body: { name: 'sub' } })).json[
        'token'
      ] as string;
    tokens = [await sub(), await sub()];
    await createUsers(service, [['mem', 'member']]);
  });
  after(async () => {
    await service.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  it('gives each master token a bucket shared with its sub-tokens, and exempts the shared key', async () => {
    const [first, second] = tokens as [string, string];
    const [one, other] = [await service.createToken('projects:manage'), await service.createToken('projects:manage')];
    const list = (token: string) => ask(service, 'GET', '/api/projects/v1/projects', { token });
    for (let n = 0; n < 4; n++) expect((await list(one)).status).to.equal(200);
    expectLimited(await list(one));
    expect((await list(other)).status).to.equal(200);
    // Their master has used some of its four calls to make them.
    for (let n = 0; (await list(first)).status === 200; n++) expect(n).to.be.below(4);
    expectLimited(await list(first));
    expectLimited(await list(second));
    for (let n = 0; n < 12; n++) {
      const health = await ask(service, 'GET', '/api/health', { token: `${SHARED_KEY}-of-a-file` });
      expect(health.status).to.equal(200);
    }
  });

  it('counts 401 responses per client address, and still accepts valid credentials', async () => {
    const from = (address: string, token: string) =>
      ask(service, 'GET', '/api/health', { token, headers: { 'x-forwarded-for': `203.0.113.9, ${address}` } });
    for (let n = 0; n < 6; n++) expectError(await from('198.51.100.1', `guess-${n}`), 401, 'unauthorized');
    expectLimited(await from('198.51.100.1', 'guess'));
    expect((await from('198.51.100.1', `${SHARED_KEY}-of-a-file`)).status).to.equal(200);
    expectError(await from('198.51.100.2', 'guess'), 401, 'unauthorized');
  });

  it('throttles failed logins per account, but not in a browser that has logged in before', async () => {
    const known = new Browser(service);
    expect((await known.login('mem', PASSWORD)).status).to.equal(303);
    expect(known.cookies.delete('__Host-svc_session')).to.equal(true);
    const stranger = new Browser(service);
    const guess = async (n: number, password: string): Promise<Wire> =>
      stranger.open(
        'POST',
        '/login',
        { csrf_token: await stranger.csrf('/login'), username: 'mem', password },
        { 'x-forwarded-for': `198.51.100.${100 + n}` },
      );
    for (let n = 0; n < 6; n++) expect((await guess(n, 'wrong')).status, String(n)).to.equal(401);
    const waiting = await guess(7, PASSWORD);
    expect(waiting.status).to.equal(429);
    expect(waiting.headers.get('retry-after')).to.match(/^[1-9]\d*$/);
    expect(waiting.text).to.include('name="password"');
    expect((await known.login('mem', PASSWORD)).status).to.equal(303);
  });

  it('prefixes its cookies with __Host- when the base URL is https, and rejects other cookies', async () => {
    const browser = new Browser(service);
    await browser.login(ADMIN_ACCOUNT.username, ADMIN_ACCOUNT.password);
    expect([...browser.cookies.keys()].toSorted()).to.deep.equal([
      '__Host-svc_anon',
      '__Host-svc_device',
      '__Host-svc_session',
    ]);
    for (const [name, attributes] of browser.attributes) {
      expect(attributes, name).to.match(/^Path=\/; (Max-Age=\d+; )?HttpOnly; SameSite=Lax; Secure$/);
    }
    const session = browser.cookies.get('__Host-svc_session');
    const me = (name: string) =>
      ask(service, 'GET', '/account', { headers: { accept: 'text/html', cookie: `${name}=${session}` } });
    expect((await me('__Host-svc_session')).status).to.equal(200);
    expect((await me('svc_session')).status).to.equal(303);
    expect((await ask(service, 'GET', '/login')).headers.get('strict-transport-security')).to.match(/max-age=\d+/);
  });

  it('builds links with the base URL and never with the Host header of a request', async () => {
    const made = await service.runCommand<{ dsn: string; key: string }>(['project', 'intake-key', 'shop']);
    expect(made.dsn).to.equal(`https://${made.key}@aos.example.org/1`);
  });
});
