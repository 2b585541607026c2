/**
 * Commands against a service whose texts are those of others, and against servers that are none
 * (contract 95).
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCli, CLI_PROGRAM, buildServiceEnv, type CommandOutcome } from '../../support/service.js';

/**
 * Escape sequences in 7 and 8 bits, a return, and characters that turn the direction of writing.
 */
const EVIL = 'a\u001b[2Jb\u009b31mc\rd\u202ee\u0007';
const DANGEROUS = /(?!\n)\p{Cc}|[\u202a-\u202e]/u;
const item = {
  ref: `shop-1${EVIL}`,
  title: EVIL,
  status: EVIL,
  severity: EVIL,
  hit_count: 1,
  last_seen_at: EVIL,
  description: `${EVIL}\nsecond line`,
  stack_trace: EVIL,
};
const ANSWERS: Record<string, object> = {
  '/api/bugtracker/v1/bugs': { items: [item] },
  '/api/bugtracker/v1/bugs/shop-1': { item, comments: [{ body: EVIL }] },
  '/api/watchdog/v1/monitors': {
    items: [{ source: EVIL, state: EVIL, name: EVIL, project: EVIL, last_heartbeat_at: EVIL }],
  },
  '/api/updateservice/v1/releases': {
    items: [{ product: EVIL, version: EVIL, channel: EVIL, platform: EVIL, published_at: EVIL, rollout_percent: 100 }],
  },
  '/api/webhooks/v1/webhooks': { items: [{ id: EVIL, name: EVIL, url: EVIL, events: EVIL, project_slug: EVIL }] },
  '/api/webhooks/v1/webhooks/1/test': { delivery: { status_code: null, error: EVIL } },
  '/api/tokens/v1/self': { name: EVIL, scopes: [EVIL] },
};

interface Reply {
  status: number;
  body: string;
  type?: string;
  location?: string;
}

describe('cli: untrusted server responses', () => {
  let server: Server;
  let home: string;
  let url: string;
  /** In place of the answers above. */
  let reply: Reply | null = null;
  let requests: string[] = [];

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'aos-profile-'));
    server = createServer((request, response) => {
      const { pathname, search } = new URL(request.url ?? '/', 'http://here');
      let sent = '';
      request.on('data', (chunk: Buffer) => (sent += chunk.toString()));
      request.on('end', () => {
        requests.push(`${request.method} ${pathname}${search} ${sent}`.trim());
        const {
          status,
          body,
          type = 'application/json',
          location,
        } = reply ?? {
          status: 200,
          body: JSON.stringify({ status: 'success', ...ANSWERS[pathname] }),
        };
        response.writeHead(status, { 'content-type': type, ...(location !== undefined && { location }) }).end(body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  beforeEach(() => {
    reply = null;
    requests = [];
  });
  after(async () => {
    server.close();
    await rm(home, { recursive: true, force: true });
  });

  const environment = (extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => {
    const { SVC_DATA_DIR: _data, ...env } = buildServiceEnv(home);
    return { ...env, XDG_CONFIG_HOME: home, SVC_URL: url, SVC_TOKEN: 'svc_live_any', ...extra };
  };
  const run = (words: readonly string[], extra: NodeJS.ProcessEnv = {}, input = ''): Promise<CommandOutcome> =>
    runCli(environment(extra), words, input);

  const commands = ['bug list', 'bug show shop-1', 'bug close shop-1', 'monitor list', 'release list', 'webhook list'];
  for (const words of [...commands, 'webhook test 1', 'login']) {
    it(`prints no terminal control characters of a response: aos ${words}`, async () => {
      for (const json of [[], ['--json']]) {
        const { stdout, stderr } = await run([...words.split(' '), ...json]);
        expect(stdout, stderr).to.include('a').and.include('[2Jb');
        expect(stdout).to.not.match(DANGEROUS);
        if (json.length > 0) expect(() => JSON.parse(stdout) as unknown).to.not.throw();
      }
    });
  }

  it('prints no terminal control characters of an error, and retains them escaped in JSON', async () => {
    const error = { code: 'of_a_plugin', message: EVIL, fields: { [`limit${EVIL}`]: EVIL } };
    reply = { status: 418, body: JSON.stringify({ status: 'error', error }) };
    const text = await run(['bug', 'list']);
    expect([text.code, text.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && said.startsWith('a[2Jb') && !DANGEROUS.test(said),
      text.stderr,
    );
    const json = await run(['bug', 'list', '--json']);
    expect(json.stdout).to.not.match(DANGEROUS);
    expect((JSON.parse(json.stdout) as { error: object }).error).to.deep.include({
      code: 'of_a_plugin',
      message: EVIL,
    });
  });

  const others: [string, Reply][] = [
    ['a page of a gateway', { status: 502, body: '<html>Bad gateway</html>', type: 'text/html' }],
    ['JSON of a gateway', { status: 503, body: '{"message":"no upstream"}' }],
    ['a text as error', { status: 400, body: '{"error":"invalid_request"}' }],
    ['an error without its words', { status: 500, body: '{"status":"error","error":{}}' }],
    ['null as error', { status: 500, body: '{"error":null}' }],
    ['a list', { status: 200, body: '[]' }],
    ['JSON of another service', { status: 200, body: '{"ok":true}' }],
    ['nothing', { status: 204, body: '' }],
    ['another address', { status: 302, body: '', location: 'https://login.example.com/' }],
  ];
  for (const [name, answer] of others) {
    it(`reports the status of a response from another server: ${name}`, async () => {
      reply = answer;
      const { code, stdout, stderr } = await run(['bug', 'list']);
      expect([code, stdout, stderr]).to.deep.equal([
        1,
        '',
        `${url} answered ${answer.status}, but not as an AOS service; check whether another server or proxy uses this address\n`,
      ]);
    });
  }

  it('sends a comment with the change that it explains', async () => {
    await run(['bug', 'close', 'shop-1', '--comment', 'done', '--resolved-in', '1.2']);
    expect(requests).to.deep.equal([
      'PATCH /api/bugtracker/v1/bugs/shop-1 {"status":"closed","comment":"done","resolved_in_build":"1.2"}',
    ]);
  });

  it('reads lists page by page', async () => {
    for (const list of ['bug', 'monitor', 'release', 'webhook'])
      await run([list, 'list', '--limit', '2', '--cursor', 'c1']);
    for (const request of requests)
      expect(request)
        .to.match(/[?&]limit=2\b/)
        .and.match(/[?&]cursor=c1\b/);
    expect(requests).to.have.lengthOf(4);
  });

  it('needs no profile when --url and SVC_TOKEN are set', async () => {
    const broken = join(home, 'broken');
    await mkdir(join(broken, 'aos'), { recursive: true });
    await writeFile(join(broken, 'aos', 'profile.json'), '{', { mode: 0o600 });
    const env = { XDG_CONFIG_HOME: broken, SVC_URL: undefined };
    expect((await run(['bug', 'list', '--url', url], env)).code).to.equal(0);
    const needed = await run(['bug', 'list', '--url', url], { ...env, SVC_TOKEN: undefined });
    expect([needed.code, needed.stderr]).to.satisfy(
      ([code, said]: [number, string]) => code === 1 && said.includes('is not a valid profile'),
    );
  });

  it('retains the stored profile when another profile cannot be written', async function () {
    if (process.platform === 'win32') this.skip();
    const path = join(home, 'aos', 'profile.json');
    const login = await run(['login', '--token-stdin'], {}, 'svc_live_first\n');
    expect(login.code, login.stderr).to.equal(0);
    // As on a full disk, no file takes a byte.
    const script = `ulimit -f 0; exec "$@"`;
    const words = ['-c', script, 'sh', process.execPath, ...CLI_PROGRAM, 'login', '--token-stdin'];
    const code = await new Promise<unknown>((resolve) => {
      const child = execFile('/bin/sh', words, { env: environment() }, (error) =>
        resolve(error?.code ?? error?.signal),
      );
      child.stdin?.end('svc_live_second\n');
    });
    expect(code).to.not.equal(undefined);
    expect(JSON.parse(await readFile(path, 'utf8'))).to.deep.equal({ url, token: 'svc_live_first' });
    expect(await readdir(join(home, 'aos'))).to.include('profile.json');
  });
});
