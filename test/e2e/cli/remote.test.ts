/** Commands against a running service: what people script with curl (contract 95, amendments). */
import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../support/archives.js';
import { runCli, TestService, type CommandOutcome } from '../../support/service.js';

const SCOPES =
  'bugtracker:report,bugtracker:manage,watchdog:manage,watchdog:ping,updateservice:publish,webhooks:manage';

describe('cli: commands against a running service', () => {
  let service: TestService;
  let token: string;
  let home: string;
  let receiver: Server;
  let answers = 204;

  const run = (words: readonly string[], extra: NodeJS.ProcessEnv = {}, input = ''): Promise<CommandOutcome> => {
    // No data directory: these commands need none.
    const { SVC_DATA_DIR: _data, ...env } = service.env;
    const own = { ...env, XDG_CONFIG_HOME: home, SVC_URL: service.url, SVC_TOKEN: token, ...extra };
    return runCli(own, words, input);
  };
  const json = async (...words: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await run([...words, '--json']);
    expect(code, `${stdout}${stderr}`).to.equal(0);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'aos-profile-'));
    receiver = createServer((request, response) => {
      request.resume();
      response.writeHead(answers).end();
    }).listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    service = await TestService.createStarted();
    await service.createProject('shop');
    token = await service.createToken(SCOPES);
  });
  after(async () => {
    receiver.close();
    await service.dispose();
    await rm(home, { recursive: true, force: true });
  });

  it('lists, shows and closes items', async () => {
    const report = { project: 'shop', title: 'The basket is empty', description: 'after a reload' };
    const { body } = await service.request('POST', '/api/bugtracker/v1/report', token, report);
    const { ref } = body['item'] as { ref: string };
    const list = await run(['bug', 'list', '--project', 'shop']);
    expect(list.stdout)
      .to.match(/^REF +STATUS +SEVERITY +HITS +TITLE\n/)
      .and.include('The basket is empty');
    expect((await run(['bug', 'show', ref])).stdout).to.include('after a reload');
    const closed = await json('bug', 'close', ref, '--comment', 'fixed in 1.2');
    expect((closed['item'] as { status: string }).status).to.equal('closed');
    const shown = await json('bug', 'show', ref);
    expect((shown['comments'] as { body: string }[]).map(({ body: said }) => said)).to.include('fixed in 1.2');
    expect((await json('bug', 'list'))['items']).to.deep.equal([]);
    const gone = await run(['bug', 'close', 'shop-999']);
    expect([gone.code, gone.stdout]).to.deep.equal([1, '']);
    expect(gone.stderr).to.match(/not found|There is no/i);
  });

  it('lists, pauses and resumes monitors', async () => {
    const monitor = { source: 'web-1', interval_seconds: 60 };
    expect((await service.request('POST', '/api/watchdog/v1/monitors', token, monitor)).status).to.equal(201);
    expect((await run(['monitor', 'list'])).stdout)
      .to.match(/^SOURCE +STATE/)
      .and.include('web-1');
    const paused = await run(['monitor', 'pause', 'web-1', '--for', '2h', '--reason', 'new disks']);
    expect([paused.code, paused.stdout], paused.stderr).to.satisfy(
      ([code, text]: [number, string]) => code === 0 && text.startsWith('web-1 is paused until '),
    );
    const windows = (await service.request('GET', '/api/watchdog/v1/maintenance', token)).body['items'];
    expect(windows).to.have.lengthOf(1);
    expect((await json('monitor', 'resume', 'web-1'))['ended']).to.have.lengthOf(1);
    expect((await run(['monitor', 'resume', 'web-1'])).stdout).to.equal('web-1 was not paused.\n');
    const wrong = await run(['monitor', 'pause', 'web-1', '--for', 'long']);
    expect([wrong.code, wrong.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('must be such as 30m'),
    );
  });

  it('lists, promotes and withdraws releases', async () => {
    const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=1.0.0&channel=beta`;
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' };
    const packed = new Uint8Array(buildPackage({ name: 'app.txt', content: 'hello' }));
    const published = await fetch(url, { method: 'POST', headers, body: packed });
    expect(published.status, await published.text()).to.equal(201);
    await json('release', 'promote', '1.0.0', '--product', 'shop', '--from', 'beta', '--to', 'stable');
    expect((await run(['release', 'list', '--product', 'shop', '--channel', 'stable'])).stdout).to.match(
      /^PRODUCT +VERSION +CHANNEL +PLATFORM +STATE +PUBLISHED\nshop +1\.0\.0 +stable +any +offered/,
    );
    const words = ['release', 'withdraw', '1.0.0', '--product', 'shop', '--channel', 'stable'];
    expect((await run(words)).code, 'without a reason').to.equal(64);
    expect((await run([...words, '--reason', 'broken'])).stdout).to.equal('shop 1.0.0 was withdrawn from stable.\n');
    expect((await run(['release', 'list', '--channel', 'stable', '--product', 'shop'])).stdout).to.include('withdrawn');
  });

  it('rolls a channel back to an earlier release', async () => {
    for (const version of ['2.0.0', '2.1.0']) {
      const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=${version}&channel=beta`;
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' };
      const packed = new Uint8Array(buildPackage({ name: 'app.txt', content: version }));
      expect((await fetch(url, { method: 'POST', headers, body: packed })).status).to.equal(201);
    }
    const words = ['release', 'rollback', '2.0.0', '--product', 'shop', '--channel', 'beta'];
    expect((await run(words)).code, 'without a reason').to.equal(64);
    expect((await run([...words, '--reason', 'broken'])).stdout).to.equal(
      'shop 2.0.0 is the newest release of beta again; withdrawn: 2.1.0.\n',
    );
    expect((await run([...words, '--reason', 'broken'])).stdout).to.include('already');
    expect((await run(['release', 'list', '--channel', 'beta', '--product', 'shop'])).stdout).to.match(
      /2\.1\.0 +beta +any +rolled back/,
    );
    const missing = await run(['release', 'rollback', '9.0.0', ...words.slice(3), '--reason', 'broken']);
    expect(missing).to.deep.include({ code: 1, stdout: '' });
    expect(missing.stderr).to.include('9.0.0');
  });

  it('lists and tests webhooks', async () => {
    const { port } = receiver.address() as AddressInfo;
    const body = { name: 'chat', url: `http://127.0.0.1:${port}/hook`, events: 'bug.created' };
    const made = await service.request('POST', '/api/webhooks/v1/webhooks', token, body);
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const { id } = made.body['webhook'] as { id: string };
    expect((await run(['webhook', 'list'])).stdout)
      .to.match(/^ID +STATE/)
      .and.include(id);
    const delivered = await run(['webhook', 'test', id]);
    expect([delivered.code, delivered.stdout], delivered.stderr).to.deep.equal([
      0,
      'Test delivered: the endpoint answered 204.\n',
    ]);
    answers = 500;
    const failed = await run(['webhook', 'test', id]);
    expect([failed.code, failed.stdout]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.startsWith('Test not delivered:'),
    );
  });

  it('reads address and token from a profile that only its owner can read', async () => {
    const without = { SVC_URL: undefined, SVC_TOKEN: undefined };
    const none = await run(['bug', 'list'], without);
    expect([none.code, none.stderr]).to.deep.equal([
      64,
      'no service address; pass --url, set SVC_URL, or run "aos login"\n',
    ]);
    const login = await run(['login', '--url', service.url, '--token-stdin'], without, `${token}\n`);
    expect(login.code, login.stderr).to.equal(0);
    const path = join(home, 'aos', 'profile.json');
    expect((await stat(path)).mode & 0o777).to.equal(0o600);
    expect((await run(['bug', 'list'], without)).code).to.equal(0);
    await chmod(path, 0o644);
    const open = await run(['bug', 'list'], without);
    expect([open.code, open.stderr]).to.deep.equal([1, `${path} is readable by other users; run: chmod 600 ${path}\n`]);
    await chmod(path, 0o600);
  });

  it('sends the profile’s token only to the profile’s address, and never without TLS', async () => {
    const { port } = receiver.address() as AddressInfo;
    const other = await run(['bug', 'list', '--url', `http://127.0.0.1:${port}`], { SVC_TOKEN: undefined });
    expect([other.code, other.stderr]).to.deep.equal([
      64,
      `no token for http://127.0.0.1:${port}; set SVC_TOKEN, or run "aos login"\n`,
    ]);
    const open = await run(['bug', 'list', '--url', 'http://aos.example.com']);
    expect([open.code, open.stderr]).to.deep.equal([
      64,
      'http://aos.example.com does not use TLS; use https://, or add --allow-http\n',
    ]);
  });

  it('prints the service’s response, and an error when the service is unreachable', async () => {
    const denied = await run(['bug', 'list', '--json'], { SVC_TOKEN: 'svc_live_wrong' });
    expect([denied.code, (JSON.parse(denied.stdout) as { error: { code: string } }).error.code]).to.deep.equal([
      1,
      'unauthorized',
    ]);
    const wrong = await run(['bug', 'list', '--limit', '1000']);
    expect([wrong.code, wrong.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.includes('--limit:'),
    );
    const silent = await run(['bug', 'list'], { SVC_URL: 'http://127.0.0.1:1' });
    expect([silent.code, silent.stderr]).to.satisfy(
      ([code, text]: [number, string]) => code === 1 && text.startsWith('http://127.0.0.1:1 cannot be reached:'),
    );
  });
});
