/**
 * Secret settings of plugins from outside: nothing that the service stores, shows or copies holds
 * one.
 */
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { waitUntil } from '../../harness.js';
import { BrowserVisitor } from '../../support/browser-visitor.js';
import { ADMIN_ACCOUNT, runCli, SHARED_KEY, TestService } from '../../support/service.js';

const run = promisify(execFile);
const SECRETS = ['hunter2-and-more', 'k&y of the receiver'];
const CONFIG = `config: joi.object({ token: joi.string().secret().required(), hooks: joi.object().pattern(joi.string(), joi.string().secret()) }),`;
const FAILURE = `new Error('cannot reach https://a.example/' + encodeURIComponent(ctx.config.hooks.x) + ' by ' + ctx.config.token)`;

describe('secret settings of an external plugin', () => {
  let service: TestService;
  let outside: string;

  before(async () => {
    outside = await mkdtemp(join(tmpdir(), 'aos-secrets-'));
    service = await TestService.create();
    const write = (name: string, members: string): Promise<void> =>
      writeFile(
        join(outside, `${name}.mjs`),
        `import { joi } from 'aos/plugin';
        export default { id: '${name}', version: '1.0.0', api: 1, title: '${name}', ${CONFIG} ${members} };`,
      );
    await write(
      'sender',
      `setup: (ctx) => ({
        jobs: [{ name: 'send', run: async () => { throw ${FAILURE}; } }],
        commands: [{ name: 'sender send', summary: 'Send', run: async () => { throw ${FAILURE}; } }],
        start: async () => { await ctx.ports.jobs.enqueue('send', null, { retry: 10 }); },
      })`,
    );
    await write('broken', `setup: (ctx) => { throw ${FAILURE}; }`);
    await write('starter', `setup: (ctx) => ({ start: async () => { throw ${FAILURE}; } })`);
    const section = { token: SECRETS[0], hooks: { x: SECRETS[1] } };
    service.env['SVC_CONFIG'] = join(outside, 'aos.json');
    await writeFile(
      service.env['SVC_CONFIG'],
      JSON.stringify({
        plugins: ['./sender.mjs', './broken.mjs', './starter.mjs'],
        sender: section,
        broken: section,
        starter: section,
      }),
      { mode: 0o600 },
    );
    await service.start();
    await waitUntil('the failed job', async () => {
      const { body } = await service.request('GET', '/api/health', SHARED_KEY);
      return (body['checks'] as { jobs: { failing: string[] } }).jobs.failing.includes('sender.send');
    });
  });
  after(async () => {
    await service?.dispose();
    await rm(outside, { recursive: true, force: true });
  });

  /** The secret in the forms that a failure has written it. */
  const expectNone = (text: string, where: string): void => {
    for (const secret of [...SECRETS, ...SECRETS.map(encodeURIComponent)])
      expect(text.includes(secret), `${where} holds ${secret}`).to.equal(false);
  };
  const expectNoneBelow = async (folder: string): Promise<string> => {
    let all = '';
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const text = await readFile(join(entry.parentPath, entry.name), 'latin1');
      expectNone(text, entry.name);
      all += text;
    }
    return all;
  };

  it('are masked in failure reasons, responses, pages, commands and log lines', async () => {
    const health = await service.request('GET', '/api/health', SHARED_KEY);
    expectNone(JSON.stringify(health.body), 'health');
    expect(JSON.stringify(health.body)).to.include('cannot reach https://a.example/[redacted] by [redacted]');
    const visitor = new BrowserVisitor(service);
    expect(await visitor.signIn(ADMIN_ACCOUNT)).to.equal(303);
    const page = await (await visitor.get('/system')).text();
    expect(page).to.include('cannot reach https://a.example/[redacted]');
    expectNone(page, 'the page');
    for (const words of [
      ['plugin', 'list', '--json'],
      ['doctor', '--json'],
      ['sender', 'send'],
      ['sender', 'send', '--json'],
    ]) {
      const { stdout, stderr } = await runCli(service.env, words);
      expect(stdout + stderr, words.join(' ')).to.include('[redacted]');
      expectNone(stdout + stderr, words.join(' '));
    }
    expectNone(service.stdout + service.stderr, 'the log');
  });

  it('do not occur in the data directory, a backup or an export', async () => {
    expect(await expectNoneBelow(service.dataDir)).to.include('by [redacted]');
    for (const kind of ['backup', 'export']) {
      const file = join(outside, `${kind}.tar.gz`);
      const { code, stderr } = await runCli(service.env, [kind, file]);
      expect(code, stderr).to.equal(0);
      const folder = join(outside, kind);
      await mkdir(folder);
      await run('tar', ['xzf', file, '-C', folder]);
      await expectNoneBelow(folder);
    }
  });
});
