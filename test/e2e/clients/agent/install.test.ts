/**
 * `--action install` and `configure` before the real service: released by the real packager,
 * installed by the real agent.
 */
import { expect } from 'chai';
import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { packager, writeTree } from '../packager/harness.js';
import { remove, runAgent, runAlike, scratch, treeOf, type Ran } from './agent.js';
import { atTerminal, hasTerminal, type Session, type Typed } from './terminal.js';

const SETUP = {
  schema: 1,
  values: [
    {
      name: 'greeting',
      label: 'Greeting',
      help: 'Shown on the first page.',
      required: true,
      default: 'Hello',
      targets: [{ file: 'config/app.json', format: 'json', key: 'ui:greeting' }],
    },
    {
      name: 'port',
      type: 'port',
      label: 'Port',
      default: 8080,
      targets: [
        { file: 'config/app.json', format: 'json', key: 'port' },
        { file: 'config/app.env', format: 'env', key: 'APP_PORT' },
      ],
    },
    {
      name: 'mode',
      type: 'choice',
      label: 'Mode',
      choices: ['simple', 'cluster'],
      default: 'simple',
      targets: [{ file: 'config/app.ini', format: 'ini', key: 'server:mode' }],
    },
    {
      name: 'peers',
      label: 'Peers',
      required: true,
      when: { name: 'mode', equals: 'cluster' },
      targets: [{ file: 'config/app.ini', format: 'ini', key: 'server:peers' }],
    },
    {
      name: 'db_password',
      type: 'secret',
      label: 'Database password',
      required: true,
      detect: 'env:APP_DB_PASSWORD',
      targets: [{ location: 'config', file: 'secrets.xml', format: 'xml', key: 'secrets/database/@password' }],
    },
    {
      name: 'token',
      type: 'secret',
      provision: 'token',
      ask: false,
      targets: [{ location: 'data', file: 'service.json', format: 'json', key: 'token' }],
    },
    {
      name: 'server',
      provision: 'base_url',
      targets: [{ location: 'data', file: 'service.json', format: 'json', key: 'server' }],
    },
  ],
  post: 'Open http://localhost\u001b[31m and log in.',
};
const APP_JSON = '{\r\n  // what people see\r\n  "ui": { "greeting": "changeme" },\r\n  "keep": [1, 2]\r\n}\r\n';

describe('update-agent: install', function () {
  let service: TestService;
  let work: string;
  let home: string;
  let dir: string;

  const publish = async (project: string, version: string, files: Record<string, string>): Promise<void> => {
    const token = await service.createToken('updateservice:publish');
    const root = join(work, `${project}-${version}`);
    await writeTree(join(root, 'any'), { 'package.json': JSON.stringify({ version }), ...files });
    await writeTree(root, { 'packager.json': JSON.stringify({ preservePatterns: ['config/*'], platform: 'any' }) });
    const args = ['--project', project, '--publish-dir', join(root, 'any'), '--config', join(root, 'packager.json')];
    const { code, stderr } = await packager(args, { SVC_TOKEN: token, SVC_URL: service.url });
    expect(code, stderr).to.equal(0);
  };

  before(async () => {
    work = await scratch();
    service = await TestService.createInProcess();
    for (const project of ['shop', 'plain']) await service.createProject(project);
    await publish('shop', '1.0.0', {
      'bin/start.sh': '#!/bin/sh\necho 1\n',
      'config/app.json': APP_JSON,
      'setup.json': JSON.stringify(SETUP),
    });
    await publish('plain', '1.0.0', { 'a.txt': 'a' });
  });
  after(async () => {
    await service.dispose();
    await remove(work);
  });
  beforeEach(async () => {
    home = await scratch();
    dir = join(home, 'opt', 'shop');
  });
  afterEach(() => remove(home));

  const around = (): Record<string, string> => ({ HOME: home, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' });
  const installing = (args: string[]): string[] => {
    return [
      '--action',
      'install',
      '--server',
      service.url,
      '--username',
      ADMIN_ACCOUNT.username,
      '--allow-targets',
      ...args,
    ];
  };
  const go = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    runAlike(installing(args), { SVC_PASSWORD: ADMIN_ACCOUNT.password, ...around(), ...env });
  const type = (args: string[], typed: Typed[], env: Record<string, string> = {}): Promise<Session> =>
    atTerminal(args, typed, { env: { ...around(), ...env }, cwd: home });
  const text = (path: string): Promise<string> => readFile(join(dir, path), 'utf8');
  const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o7777).toString(8);

  /** As root they are those of the machine. */
  const asRoot = process.geteuid?.() === 0;
  const configDir = (): string => (asRoot ? '/etc/shop' : join(home, '.config', 'shop'));
  const dataDir = (): string => (asRoot ? '/var/lib/shop' : join(home, '.local', 'share', 'shop'));
  const forget = async (): Promise<void> => {
    for (const path of [configDir(), dataDir()]) await remove(path);
  };
  beforeEach(forget);
  afterEach(forget);

  describe('unattended', () => {
    it('installs, sets up, and can be updated afterwards', async () => {
      const env = { SVC_PASSWORD: ADMIN_ACCOUNT.password, ...around(), SVC_SET_DB_PASSWORD: 'p"w & <x>' };
      const ran = await runAgent(installing(['--project', 'shop', '--dir', dir]), { env });
      expect(ran.code, ran.stderr).to.equal(0);
      expect(ran.stdout).to.equal('UPDATED: none -> 1.0.0\nOpen http://localhost[31m and log in.\n');
      expect(await text('config/app.json')).to.equal(
        '{\r\n  // what people see\r\n  "ui": { "greeting": "Hello" },\r\n  "keep": [1, 2],\r\n  "port": 8080\r\n}\r\n',
      );
      expect(await text('config/app.env')).to.equal('APP_PORT=8080\n');
      expect(await text('config/app.ini')).to.equal('[server]\nmode=simple\n');
      expect(await readFile(join(configDir(), 'secrets.xml'), 'utf8')).to.include(
        'password="p&quot;w &amp; &lt;x&gt;"',
      );
      expect(await modeOf(join(configDir(), 'secrets.xml'))).to.equal('600');
      const provisioned = JSON.parse(await readFile(join(dataDir(), 'service.json'), 'utf8')) as Record<string, string>;
      expect(provisioned['server']).to.equal(service.url);
      expect(provisioned['token']).to.match(/^svc_/);
      expect(await modeOf(join(dataDir(), 'service.json'))).to.equal('600');
      expect(await modeOf(join(dir, 'bin/start.sh'))).to.equal('755');
      expect(await modeOf(join(dir, '.update-agent'))).to.equal('700');
      const kept = JSON.parse(await text('.update-agent/agent.json')) as object;
      expect(kept).to.deep.equal({ server: `${service.url}/` });
      const state = JSON.parse(await text('.update-agent/state.json')) as Record<string, object>;
      expect(state['highest_version']).to.equal('1.0.0');
      expect(state['pin']).to.be.an('object');
      // The server is known now.
      const again = await runAlike(['--dir', dir], around());
      expect(again).to.deep.equal({ code: 0, signal: null, stdout: 'UP_TO_DATE: 1.0.0\n', stderr: '' });
    });

    it('changes nothing and creates no second token when run again', async () => {
      const env = { SVC_SET_DB_PASSWORD: 'x' };
      await go(['--project', 'shop', '--dir', dir], env);
      const before = await treeOf(dir);
      const data = await readFile(join(dataDir(), 'service.json'), 'utf8');
      const again = await go(['--project', 'shop', '--dir', dir], env);
      expect(again.stdout, again.stderr).to.match(/^UP_TO_DATE: 1\.0\.0\n/);
      expect(await treeOf(dir)).to.deep.equal(before);
      expect(await readFile(join(dataDir(), 'service.json'), 'utf8')).to.equal(data);
    });

    it('exits 64 with the missing values, keeps the files, and continues with configure', async () => {
      const ran = await go(['--project', 'shop', '--dir', dir, '--set', 'mode=cluster']);
      expect(ran.code).to.equal(64);
      expect(ran.stderr).to.include('peers (--set peers=… or SVC_SET_PEERS)');
      expect(ran.stderr).to.include('db_password (SVC_SET_DB_PASSWORD or SVC_SET_DB_PASSWORD_FILE)');
      expect(ran.stdout).to.equal('UPDATED: none -> 1.0.0\n');
      expect(await text('config/app.json')).to.equal(APP_JSON);
      const args = [
        '--action',
        'configure',
        '--dir',
        dir,
        '--username',
        ADMIN_ACCOUNT.username,
        '--set',
        'mode=cluster',
        '--allow-targets',
      ];
      const env = {
        ...around(),
        SVC_PASSWORD: ADMIN_ACCOUNT.password,
        APP_DB_PASSWORD: 'detected',
        SVC_SET_PEERS: 'a,b',
      };
      const configured = await runAlike(args, env);
      expect(configured.code, configured.stderr).to.equal(0);
      expect(await text('config/app.ini')).to.equal('[server]\nmode=cluster\npeers=a,b\n');
      expect(await readFile(join(configDir(), 'secrets.xml'), 'utf8')).to.include('password="detected"');
    });

    const rejected: { when: string; args: string[]; env?: Record<string, string>; says: RegExp }[] = [
      { when: 'no such setting', args: ['--set', 'nonsense=1'], says: /does not have this setting/ },
      { when: 'a secret in argv', args: ['--set', 'db_password=1'], says: /SVC_SET_DB_PASSWORD/ },
      { when: 'no port', args: ['--set', 'port=70000'], says: /port .* must be a port/ },
      {
        when: 'none of the choices',
        args: [],
        env: { SVC_SET_MODE: 'other' },
        says: /mode .* must be one of simple, cluster/,
      },
      {
        when: 'two lines for an INI file',
        args: ['--set', 'mode=cluster', '--set', 'peers=a\nb'],
        says: /peers .* must be one line/,
      },
      { when: 'no value', args: ['--set', 'port'], says: /--set must be name=value/ },
    ];
    it('exits 64 for invalid values, and writes nothing', async () => {
      await go(['--project', 'shop', '--dir', dir]);
      const before = await treeOf(dir);
      for (const { when, args, env, says } of rejected) {
        const variables = { ...around(), SVC_SET_DB_PASSWORD: 'x', ...env };
        const ran = await runAlike(['--action', 'configure', '--dir', dir, ...args], variables);
        expect(ran.code, `${when}: ${ran.stderr}`).to.equal(64);
        expect(ran.stderr, when).to.match(says);
        expect(await treeOf(dir), when).to.deep.equal(before);
      }
    });

    it('reports an error for a target that cannot be parsed, and leaves it unchanged', async () => {
      await go(['--project', 'shop', '--dir', dir]);
      await writeFile(join(dir, 'config/app.json'), '{ broken');
      const before = await treeOf(dir);
      const ran = await runAlike(['--action', 'configure', '--dir', dir], { ...around(), SVC_SET_DB_PASSWORD: 'x' });
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.match(/config\/app\.json is not valid JSON: .*; it was not changed/);
      expect(await treeOf(dir)).to.deep.equal(before);
    });

    it('preserves mode, byte order mark and owner of a file, and rejects a link in its place', async () => {
      await go(['--project', 'shop', '--dir', dir]);
      await writeFile(join(dir, 'config/app.json'), `\uFEFF${APP_JSON}`, { mode: 0o640 });
      const env = { ...around(), SVC_SET_DB_PASSWORD: 'x' };
      const mode = await modeOf(join(dir, 'config/app.json'));
      expect((await runAlike(['--action', 'configure', '--dir', dir, '--allow-targets'], env)).code).to.equal(0);
      expect(await text('config/app.json')).to.match(/^\uFEFF\{\r\n {2}\/\/ what/);
      expect(await modeOf(join(dir, 'config/app.json'))).to.equal(mode);
      await remove(join(dir, 'config/app.ini'));
      await symlink('/etc/passwd', join(dir, 'config/app.ini'));
      expect((await runAlike(['--action', 'configure', '--dir', dir, '--allow-targets'], env)).code).to.equal(9);
    });

    it('never prompts, but exits 64 and names the option', async () => {
      const bare = (args: string[], env: Record<string, string> = {}): Promise<Ran> =>
        runAlike(['--action', 'install', ...args], { ...around(), ...env });
      const cases: [args: string[], env: Record<string, string>, says: RegExp][] = [
        [['--dir', dir], {}, /--server is missing/],
        [['--dir', dir, '--server', service.url], {}, /--username is missing/],
        [['--dir', dir, '--server', service.url, '--username', 'x'], {}, /SVC_PASSWORD/],
        [
          ['--dir', dir, '--server', service.url, '--username', ADMIN_ACCOUNT.username],
          { SVC_PASSWORD: ADMIN_ACCOUNT.password },
          /--project is missing: one of plain, shop/,
        ],
      ];
      for (const [args, env, says] of cases) {
        const ran = await bare(args, env);
        expect(ran.code, ran.stderr).to.equal(64);
        expect(ran.stderr).to.match(says);
      }
      expect(await readdir(home)).to.deep.equal([]);
    });

    it('exits 2 for a failed login and 1 for an unknown application or channel, and leaves nothing behind', async () => {
      const wrong = await go(['--project', 'shop', '--dir', dir], { SVC_PASSWORD: 'wrong-password-0' });
      expect(wrong.code).to.equal(2);
      expect(wrong.stdout).to.match(/^UNAUTHORIZED: access was denied for account admin: .*installer or admin/);
      expect((await go(['--project', 'nothing', '--dir', dir])).code).to.equal(1);
      expect((await go(['--project', 'shop', '--channel', 'beta', '--dir', dir])).code).to.equal(1);
      expect(await readdir(home)).to.deep.equal([]);
    });

    it('requires an absent or empty directory, or an installation of the same product', async () => {
      await mkdir(dir, { recursive: true });
      expect((await go(['--project', 'plain', '--dir', dir])).code).to.equal(0);
      const installed = await treeOf(dir);
      const other = await go(['--project', 'shop', '--dir', dir]);
      expect(other.code).to.equal(64);
      expect(other.stderr).to.match(/plain is installed in .*--adopt/);
      expect(await treeOf(dir)).to.deep.equal(installed);
      const full = join(home, 'full');
      await mkdir(full);
      await writeFile(join(full, 'mine.txt'), 'mine');
      const ran = await go(['--project', 'plain', '--dir', full]);
      expect(ran.code).to.equal(64);
      expect(ran.stderr).to.include('it contains mine.txt');
      expect(await readdir(full)).to.deep.equal(['mine.txt']);
      expect((await go(['--project', 'plain', '--dir', full, '--adopt'])).code).to.equal(0);
      expect(await readFile(join(full, 'mine.txt'), 'utf8')).to.equal('mine');
      const file = join(home, 'file');
      await writeFile(file, '');
      expect((await go(['--project', 'plain', '--dir', file, '--adopt'])).code).to.equal(64);
      const adopted = await go(['--project', 'shop', '--dir', dir, '--adopt'], { SVC_SET_DB_PASSWORD: 'x' });
      expect(adopted.stdout, adopted.stderr).to.match(/^UPDATED: none -> 1\.0\.0\n/);
      expect(Object.keys(await treeOf(dir)))
        .to.include('bin/start.sh')
        .and.not.include('a.txt');
    });

    it('accepts every default with --yes, and prints lines with --json', async () => {
      const ran = await go(['--project', 'shop', '--dir', dir, '--yes', '--json'], { SVC_SET_DB_PASSWORD: 'geheim' });
      expect(ran.code, ran.stdout).to.equal(0);
      const lines = ran.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ event }) => event)).to.include.members(['downloading', 'updated', 'configured', 'post']);
      expect(ran.stdout).to.not.include('geheim');
      expect(await text('.update-agent/log/update-agent.log'))
        .to.not.include('geheim')
        .and.not.include(ADMIN_ACCOUNT.password);
    });
  });

  describe('at a terminal', () => {
    before(function () {
      if (!hasTerminal) this.skip();
    });
    const login: Typed[] = [
      { when: 'Address of the service', type: '' },
      { when: 'Account: ', type: `${ADMIN_ACCOUNT.username}\r` },
      { when: `Password of ${ADMIN_ACCOUNT.username}: `, type: `${ADMIN_ACCOUNT.password}\r` },
    ];

    it('prompts for all values, offers choices, and does not echo passwords', async () => {
      login[0] = { when: 'Address of the service: ', type: `${service.url}\r` };
      const ran = await type(
        ['--action', 'install'],
        [
          ...login,
          { when: 'Application, 1 to 2', type: '2\r' },
          { when: 'Directory [', type: `${dir}\r` },
          { when: 'Greeting [Hello]: ', type: 'Moin\r' },
          { when: 'Port [8080]: ', type: '99999\r' },
          { when: 'must be a port', type: '' },
          { when: 'Port [8080]: ', type: '9090\r' },
          { when: 'Mode, 1 to 2 [simple]: ', type: '2\r' },
          { when: 'Peers: ', type: '\r' },
          { when: 'must be given', type: '' },
          { when: 'Peers: ', type: 'one two\r' },
          { when: 'Database password: ', type: 'sesam-oeffne\r' },
          ...(asRoot ? [{ when: 'May it? (yes or no) [no]: ', type: 'yes\r' }] : []),
          { when: 'Monitor this machine?', type: 'no\r' },
        ],
      );
      expect(ran.code, ran.screen).to.equal(0);
      expect(ran.screen).to.include('Shown on the first page.').and.include('UPDATED: none -> 1.0.0');
      expect(ran.screen).to.not.include(ADMIN_ACCOUNT.password).and.not.include('sesam');
      expect(JSON.parse((await text('config/app.json')).replace(/\/\/.*/, ''))).to.deep.equal({
        ui: { greeting: 'Moin' },
        keep: [1, 2],
        port: 9090,
      });
      expect(await text('config/app.ini')).to.equal('[server]\nmode=cluster\npeers=one two\n');
    });

    it('exits 11 on Ctrl-C at a prompt, including a password prompt, and leaves nothing behind', async () => {
      const atAccount = await type(
        ['--action', 'install', '--server', service.url],
        [{ when: 'Account: ', type: '\u0003' }],
      );
      expect(atAccount.code, atAccount.screen).to.equal(11);
      const atPassword = await type(
        ['--action', 'install', '--server', service.url, '--username', 'x'],
        [{ when: 'Password of x: ', type: 'abc\u0003' }],
      );
      expect(atPassword.code, atPassword.screen).to.equal(11);
      expect(atPassword.screen).to.not.include('abc');
      expect(await readdir(home)).to.deep.equal([]);
    });
  });
});
