/**
 * What the program says of itself: help, version, unknown commands, and the options of `serve`
 * (contract 95).
 */
import { expect } from 'chai';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { runCli, buildServiceEnv, TestService } from '../../support/service.js';

describe('cli: help', function () {
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let version: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-help-'));
    env = buildServiceEnv(join(folder, 'data'));
    ({ version } = JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8')) as { version: string });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const said: [string[], number, RegExp, RegExp][] = [
    [['-v'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    [['version'], 0, /^\d+\.\d+\.\d+\n$/, /^$/],
    [['version', '--json'], 0, /^\{"version":"\d+\.\d+\.\d+"\}\n$/, /^$/],
    [['help'], 0, /Usage: aos <command>[^]*serve[^]*Exit codes: 0 success/, /^$/],
    [['help', 'token', 'create'], 0, /Usage: aos token create --name <name>[^]*--expires-in <seconds\|7d>/, /^$/],
    [['help', 'token'], 0, /token create[^]*token revoke/, /^$/],
    [['serve', '--help'], 0, /--port <port>[^]*SVC_PORT[^]*--data-dir <folder>[^]*SVC_DATA_DIR[^]*SVC_CONFIG/, /^$/],
    [['tokn', 'create'], 64, /^$/, /^unknown command "tokn create"; did you mean "token create"\?\n$/],
    [['help', 'tokn'], 64, /^$/, /^unknown command "tokn"; did you mean "token"\?\n$/],
    [['frobnicate'], 64, /^$/, /^unknown command "frobnicate"; run "aos help" for the list\n$/],
    [['serve', '--prot', '1'], 64, /^$/, /^unknown option --prot; did you mean --port\?\nUsage: aos serve /],
    [['frobnicate', '--json'], 64, /^\{"status":"error","error":\{"code":"invalid_request"/, /^$/],
  ];
  for (const [words, code, stdout, stderr] of said) {
    it(`answers "aos ${words.join(' ')}" with exit ${code}`, async () => {
      const ended = await runCli(env, words);
      expect(ended.code, ended.stderr).to.equal(code);
      expect(ended.stdout).to.match(stdout);
      expect(ended.stderr).to.match(stderr);
    });
  }

  it('creates no files in any of these calls', async () => {
    expect(await readdir(folder)).to.deep.equal([]);
    expect((await runCli(env, ['version'])).stdout).to.equal(`${version}\n`);
  });

  it('prefers the options of `serve` to the environment', async () => {
    const data = join(folder, 'other');
    const config = join(folder, 'aos.json');
    await writeFile(config, '{ "app": { "timezone": "Europe/Berlin" } }');
    const service = await TestService.createEmpty({ SVC_SERVER__PORT: '1', SVC_APP__TIMEZONE: 'Mars' });
    try {
      delete service.env['SVC_PORT'];
      delete service.env['SVC_APP__TIMEZONE'];
      await service.start(['serve', '--port', '0', '--host', 'localhost', '--data-dir', data, '--config', config]);
      expect(await readdir(data)).to.include('aos.db');
      expect(await readdir(service.dataDir)).to.deep.equal([]);
    } finally {
      await service.dispose();
    }
  });

  it('names the option that has an invalid value', async () => {
    const { code, stderr } = await runCli(env, ['serve', '--port', 'eighty']);
    expect([code, stderr]).to.deep.equal([1, 'configuration: server.port must be a number (from option --port)\n']);
  });

  describe('with a store', () => {
    let service: TestService;
    before(async () => (service = await TestService.create()));
    after(() => service.dispose());

    it('creates an account by name, as an argument or an option', async () => {
      const role = ['--role', 'member', '--password-stdin'];
      const secret = 'a-long-enough-passphrase';
      expect((await runCli(service.env, ['user', 'create', 'ada', ...role], secret)).stdout).to.include('created ada');
      expect((await runCli(service.env, ['user', 'create', '--username', 'bob', ...role], secret)).code).to.equal(0);
      const list = (await runCli(service.env, ['user', 'list'])).stdout.split('\n');
      expect(list[0]).to.match(/^USERNAME +ROLE +STATE +TOTP +LAST LOGIN$/);
      expect(list.join('\n'))
        .to.match(/^ada +member +active/m)
        .and.match(/^bob +member +active/m);
    });

    it('accepts a lifetime in seconds or days, and names the option of an invalid lifetime', async () => {
      const create = ['token', 'create', '--name', 'ci', '--scopes', 'bugtracker:read', '--expires-in'];
      for (const [given, seconds] of [
        ['7d', 7 * 86_400],
        ['90m', 5_400],
        ['3600', 3_600],
      ] as const) {
        const made = JSON.parse((await runCli(service.env, [...create, given, '--json'])).stdout) as Record<
          string,
          string
        >;
        const lasts = Date.parse(made['expires_at'] ?? '') - Date.parse(made['created_at'] ?? '');
        expect(Math.round(lasts / 1000), given).to.equal(seconds);
      }
      for (const given of ['soon', '7w', '0']) {
        const { code, stderr } = await runCli(service.env, [...create, given]);
        expect([code, stderr], given).to.satisfy(
          ([ended, text]: [number, string]) => ended === 1 && text.includes('--expires-in: must be'),
        );
      }
      expect((await runCli(service.env, ['token', 'list'])).stdout).to.match(
        /^ID +PREFIX +NAME +PROJECT +EXPIRES +SCOPES\n/,
      );
      expect((await runCli(service.env, ['project', 'list'])).stdout).to.match(/^NUMBER +SLUG +STATE +NAME\n/);
      expect((await runCli(service.env, ['plugin', 'list'])).stdout).to.match(/^ID +VERSION +STATE +TITLE OR REASON\n/);
    });
  });
});
