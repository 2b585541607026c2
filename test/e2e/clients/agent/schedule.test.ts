/**
 * `--action schedule` before the real service: shown, installed, and what it installed updates
 * without a 401.
 */
import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { waitUntil } from '../../../harness.js';
import { buildArchive } from '../../../support/release-server.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { MAIN, remove, runAgent, scratch, type Ran } from './agent.js';

const run = promisify(execFile);

/** Keeps its text in a file, as the real one does in its spool. */
const CRONTAB = `#!/bin/sh
here=$(dirname "$0")
if [ "$1" = -l ]; then
  [ -f "$here/text" ] || { echo "no crontab for $(id -un)" >&2; exit 1; }
  exec cat "$here/text"
fi
exec cat >"$here/text"
`;
const RECORDER = '#!/bin/sh\necho "$*" >>"$(dirname "$0")/calls"\n';

describe('update-agent: schedule', function () {
  let service: TestService;
  let key: string;
  let home: string;
  let tools: string;
  let dir: string;

  const publish = async (version: string): Promise<void> => {
    const { status } = await fetch(`${service.url}/api/updateservice/v1/publish?product=shop&version=${version}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await service.createToken('updateservice:publish')}`,
        'content-type': 'application/gzip',
      },
      body: new Uint8Array(buildArchive([{ path: 'app.txt', content: version }])),
    });
    expect(status).to.equal(201);
  };

  before(async () => {
    service = await TestService.createInProcess();
    await service.createProject('shop');
    const made = await service.request(
      'POST',
      '/api/license/v1/licenses',
      await service.createToken('license:manage'),
      {
        product: 'shop',
      },
    );
    key = made.body['key'] as string;
    await publish('1.0.0');
    await waitUntil('the key opens the store', async () => {
      home = await scratch();
      const ran = await runAgent(installing(['--license-key', key]), { env: { HOME: home } });
      await remove(home);
      return ran.code === 0;
    });
  });
  after(() => service?.dispose());
  beforeEach(async () => {
    home = await scratch();
    dir = join(home, 'shop 100 %');
    tools = join(home, 'tools');
    await mkdir(tools);
    await writeFile(join(tools, 'crontab'), CRONTAB, { mode: 0o755 });
    await writeFile(join(tools, 'systemctl'), RECORDER, { mode: 0o755 });
  });
  afterEach(() => remove(home));

  const installing = (args: string[]): string[] => {
    return [
      '--action',
      'install',
      '--server',
      service.url,
      '--project',
      'shop',
      '--dir',
      join(home, 'shop 100 %'),
      ...args,
    ];
  };
  const go = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    runAgent(args, { env: { HOME: home, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`, ...env } });
  const schedule = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    go(['--action', 'schedule', '--dir', dir, '--scheduler', 'cron', ...args], env);
  const crontab = (): Promise<string> => readFile(join(tools, 'text'), 'utf8');
  /** As cron does: by a shell, with next to nothing in the environment. */
  const runCronLine = async (): Promise<string> => {
    const line = (await crontab()).split('\n').find((one) => one.endsWith('# aos-update:shop')) ?? '';
    const command = line
      .replace(/^\S+ \S+ \* \* \* /, '')
      .replaceAll('\\%', '%')
      .replace(/ >\/dev\/null 2>&1.*$/, '');
    return (await run('/bin/sh', ['-c', command], { env: { HOME: home, PATH: '/usr/bin:/bin' } })).stdout;
  };

  it('shows the crontab line, installs it with --yes, and updates with the license key', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    await writeFile(join(tools, 'text'), '# mine\n');
    const ran = await schedule(['--yes']);
    expect(ran, ran.stderr).to.include({ code: 0 });
    expect(ran.stdout)
      .to.match(/^# crontab\n\d+ [1-4] \* \* \* /)
      .and.include('SCHEDULED: update-agent-shop by cron');
    expect((await crontab()).split('\n')[0]).to.equal('# mine');
    expect(await runCronLine()).to.equal('UP_TO_DATE: 1.0.0\n');
    const before = await crontab();
    expect((await schedule(['--yes'])).code).to.equal(0);
    expect(await crontab()).to.equal(before);
  });

  it('installs nothing without --yes and without a terminal', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const ran = await schedule([]);
    expect(ran.code).to.equal(64);
    expect(ran.stdout).to.include('# aos-update:shop');
    expect(ran.stderr).to.include('--yes is missing');
    expect(await crontab().catch(() => null)).to.equal(null);
  });

  it('stores an account with its password file path, so that later runs are authorized', async () => {
    const file = join(home, 'password');
    await writeFile(file, `${ADMIN_ACCOUNT.password}\n`, { mode: 0o600 });
    expect((await go(installing(['--username', ADMIN_ACCOUNT.username, '--password-file', file]))).code).to.equal(0);
    expect((await schedule(['--yes'])).code).to.equal(0);
    const config = await readFile(join(dir, '.update-agent', 'agent.json'), 'utf8');
    expect(JSON.parse(config)).to.include({ username: ADMIN_ACCOUNT.username, 'password-file': file });
    expect(config).to.not.include(ADMIN_ACCOUNT.password);
    expect((await stat(join(dir, '.update-agent', 'agent.json'))).mode & 0o777).to.equal(0o600);
    await publish('1.1.0');
    expect(await runCronLine()).to.include('UPDATED: 1.0.0 -> 1.1.0\n');
  });

  it('rejects credentials that the nightly run would lack, and credentials that the store rejects', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    await writeFile(join(dir, '.update-agent', 'agent.json'), '{}', { mode: 0o600 });
    const server = ['--server', service.url, '--yes'];
    const account = await schedule([...server, '--username', ADMIN_ACCOUNT.username], {
      SVC_PASSWORD: ADMIN_ACCOUNT.password,
    });
    expect(account.code).to.equal(64);
    expect(account.stderr).to.include('--password-file');
    const none = await schedule(server);
    expect(none.code).to.equal(2);
    expect(none.stdout).to.match(/^UNAUTHORIZED: /);
    expect((await schedule([...server, '--license-key', key])).code).to.equal(0);
    expect(await runCronLine()).to.match(/^UP_TO_DATE: /);
  });

  it('writes systemd units as a user, and enables the timer', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const isRoot = process.geteuid?.() === 0;
    const user = isRoot ? { uid: 1234, gid: 1234 } : {};
    if (isRoot) await run('chown', ['-R', '1234:1234', home]);
    const ran = await runAgent(['--action', 'schedule', '--dir', dir, '--yes', '--scheduler', 'systemd'], {
      ...user,
      env: { HOME: home, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}`, XDG_CONFIG_HOME: '' },
    });
    expect(ran, ran.stderr).to.include({ code: 0 });
    expect(ran.stdout).to.include('WARNING: ').and.include('loginctl enable-linger');
    const units = join(home, '.config', 'systemd', 'user');
    expect(await readFile(join(units, 'update-agent-shop.timer'), 'utf8')).to.include('OnCalendar=');
    expect((await readFile(join(tools, 'calls'), 'utf8')).trim().split('\n')).to.deep.equal([
      '--user daemon-reload',
      '--user enable --now update-agent-shop.timer',
    ]);
  });

  it('rejects as root a program that another user could replace, and leaves the crontab unchanged', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const program = join(dir, 'update-agent.cjs');
    await writeFile(program, `import(${JSON.stringify(pathToFileURL(MAIN).href)});\n`);
    await run('chown', ['-R', '1234:1234', dir]);
    const ran = await runAgent(
      ['--action', 'schedule', '--dir', dir, '--scheduler', 'cron', '--yes', '--server', service.url],
      { program, env: { HOME: home, PATH: `${tools}${delimiter}${process.env.PATH ?? ''}` } },
    );
    expect(ran.code, ran.stdout).to.equal(64);
    expect(ran.stderr).to.include(program).and.include('install the agent in a folder owned by root');
    expect(await crontab().catch(() => null)).to.equal(null);
  });

  it('rejects a second installation of the product, names the first, and leaves its line unchanged', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const other = join(home, 'second');
    expect((await go([...installing(['--license-key', key]), '--dir', other])).code).to.equal(0);
    expect((await schedule(['--yes'])).code).to.equal(0);
    const before = await crontab();
    const ran = await schedule(['--yes', '--dir', other]);
    expect(ran.code).to.equal(64);
    expect(ran.stderr).to.include(`already updates ${dir};`);
    expect(await crontab()).to.equal(before);
    expect((await schedule(['--yes'])).code).to.equal(0);
  });

  it('adds options that are not stored in a file to the command, with the proxy but without secrets', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const ca = join(home, 'ca.pem');
    await writeFile(ca, rootCertificates[0] ?? '');
    const pin = 'a'.repeat(64);
    const ran = await schedule(
      ['--yes', '--channel', 'stable', '--platform', 'linux-x64', '--ca-file', ca, '--pin', pin],
      {
        HTTPS_PROXY: 'proxy.example:3128',
      },
    );
    expect(ran, ran.stderr).to.include({ code: 0 });
    const line = await crontab();
    for (const word of ["'--channel=stable'", "'--platform=linux-x64'", `'--ca-file=${ca}'`, `'--pin=${pin}'`])
      expect(line).to.include(word);
    expect(line)
      .to.match(/\* '\/usr\/bin\/env' .*'HTTPS_PROXY=proxy\.example:3128'/)
      .and.not.include(key);
    const secret = await schedule(['--yes'], { HTTPS_PROXY: 'http://u:p@proxy.example:3128' });
    expect(secret.code).to.equal(64);
    expect(secret.stderr).to.include('HTTPS_PROXY').and.not.include('u:p');
  });

  it('rejects options that cannot be part of the command, and names them', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const once = await schedule(['--yes', '--allow-unsigned']);
    expect(once.code).to.equal(64);
    expect(once.stderr).to.include('allow-unsigned');
    const config = join(home, 'config.json');
    await writeFile(config, JSON.stringify({ server: service.url }), { mode: 0o600 });
    const keyless = await schedule(['--yes', '--config', config, '--license-key', key]);
    expect(keyless.code).to.equal(64);
    expect(keyless.stderr).to.include('license-key').and.include(config);
    await writeFile(config, JSON.stringify({ server: service.url, 'license-key': key }), { mode: 0o600 });
    expect((await schedule(['--yes', '--config', config])).code).to.equal(0);
    expect(await runCronLine()).to.match(/^UP_TO_DATE: /);
    expect(await crontab().catch(() => null)).to.include(`'--config' '${config}'`);
  });

  it('compares the options with root’s file in the installation of another user', async function () {
    if (process.geteuid?.() !== 0) this.skip();
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    await run('chown', ['-R', '1234:1234', dir]);
    const rootsFile = '/etc/update-agent/shop.json';
    await mkdir('/etc/update-agent', { recursive: true, mode: 0o755 });
    const write = (values: object): Promise<void> => writeFile(rootsFile, JSON.stringify(values), { mode: 0o600 });
    try {
      await write({ dir, server: service.url });
      const keyless = await schedule(['--yes', '--license-key', key]);
      expect(keyless.code).to.equal(64);
      expect(keyless.stderr).to.include('license-key').and.include(rootsFile);
      await write({ dir, server: service.url, 'license-key': key });
      const ran = await schedule(['--yes', '--channel', 'stable']);
      expect(ran, ran.stderr).to.include({ code: 0 });
      expect(await crontab())
        .to.include("'--channel=stable'")
        .and.not.include(key);
    } finally {
      await remove(rootsFile);
    }
  });

  it('installs nothing next to an unreadable agent.json, and leaves that file unchanged', async () => {
    expect((await go(installing(['--license-key', key]))).code).to.equal(0);
    const config = join(dir, '.update-agent', 'agent.json');
    await writeFile(config, '{ "server": ', { mode: 0o600 });
    const words = installing(['--license-key', key, '--yes']).filter((word) => word !== '--dir' && word !== dir);
    const ran = await runAgent(words, { env: { HOME: home }, cwd: dir });
    expect(ran.code, ran.stdout).to.equal(64);
    expect(ran.stderr).to.include(`${config} is not valid JSON`);
    expect(await readFile(config, 'utf8')).to.equal('{ "server": ');
  });

  it('reports a directory without an installation', async () => {
    const ran = await schedule(['--yes', '--server', service.url]);
    expect(ran.code).to.equal(64);
    expect(ran.stderr).to.include('no installation in');
  });
});
