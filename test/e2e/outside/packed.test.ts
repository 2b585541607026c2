/**
 * The package as an integrator gets it: packed, installed into an empty folder, and plugins made,
 * built, tested and run there. Needs a registry, or npm's cache, for the packages that the service
 * depends on.
 */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { waitUntil } from '../../harness.js';
import { packService } from '../../support/packed-service.js';
import { buildCleanEnv, runAndGetOutput, run } from '../../support/programs.js';
import { isAvailable } from '../../support/requirements.js';

const ROOT = projectRoot();
const CLI = ['node_modules', 'aos', 'dist', 'main.js'].join('/');
const QUIET = ['--no-audit', '--no-fund', '--prefer-offline', '--ignore-scripts', '--loglevel=error'];
/** npm's codes for a registry that is not there. */
const UNREACHABLE = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENOTCACHED)\b/;

/** Packing the whole service, and fetching all of its libraries. */
const LIMIT_MS = 280_000;

interface Running {
  url: string;
  child: ChildProcess;
}

describe('packed service', function () {
  this.timeout(600_000);
  let folder: string;
  let env: NodeJS.ProcessEnv;
  let running: Running | null = null;

  const aos = (...args: string[]): Promise<string> =>
    runAndGetOutput(process.execPath, [CLI, ...args], { cwd: folder, env });

  before(async function () {
    folder = await mkdtemp(join(tmpdir(), 'aos-packed-'));
    env = buildCleanEnv({
      SVC_CONFIG: 'aos.json',
      SVC_DATA_DIR: join(folder, 'data'),
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'warn',
    });
    const packed = await packService();
    await writeFile(join(folder, 'package.json'), '{ "private": true }');
    const installed = await run('npm', ['install', ...QUIET, packed], {
      cwd: folder,
      limitMs: LIMIT_MS,
    });
    if (installed.code !== 0 && UNREACHABLE.test(installed.stderr)) {
      process.stdout.write('  the packed service: no registry to install from\n');
      isAvailable('packed', false);
      this.skip();
    }
    expect(installed.code, installed.stderr).to.equal(0);
    // The compiler, and the types of Node, that an integrator has.
    const libraries = join(folder, 'node_modules');
    await mkdir(join(libraries, '@types'), { recursive: true });
    for (const name of ['typescript', join('@types', 'node'), join('.bin', 'tsc')])
      await symlink(join(ROOT, 'node_modules', name), join(libraries, name));
  });
  after(async () => {
    running?.child.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** The service with these plugins, listening. */
  async function serve(plugins: string[]): Promise<Running> {
    await writeFile(join(folder, 'aos.json'), JSON.stringify({ plugins }));
    const child = spawn(process.execPath, [CLI, 'serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString('utf8')));
    const url = await new Promise<string>((resolve, reject) => {
      child.on('close', (code) => reject(new Error(`the service exited with ${code}: ${said}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
        const address = /^listening on (http\S+)$/m.exec(said)?.[1];
        if (address !== undefined) resolve(address);
      });
    });
    return { url, child };
  }

  const stop = async ({ child }: Running): Promise<void> => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await ended;
  };

  it('contains all files that users need, and no tests', async () => {
    const files = await readdir(join(folder, 'node_modules', 'aos'), { recursive: true });
    expect(files).to.include.members([
      'config/default.json',
      'dist/test/kit/index.d.ts',
      'dist/test/kit/contracts/index.js',
      'dist/web/assets/aos.css',
      'docs/plugins.md',
      'examples/on-call/src/plugin.ts',
      'adapters/cli/templates/plugin/ts/src/plugin.ts',
      'web/README.md',
    ]);
    expect(files.filter((file) => /^dist\/test\/(?!kit(\/|$))|\.map$/.test(file))).to.deep.equal([]);
  });

  it('exports `aos/plugin`, `aos/domain` and `aos/testing`, each importable on its own', async () => {
    for (const [name, value] of [
      ['plugin', 'definePlugin'],
      ['domain', 'BUG_CREATED'],
      ['testing', 'boot'],
    ] as const) {
      const script = `import('aos/${name}').then((m) => console.log(typeof m.${value}))`;
      expect((await runAndGetOutput(process.execPath, ['-e', script], { cwd: folder })).trim()).to.match(
        /^(function|object)$/,
      );
    }
  });

  it('creates plugins in TypeScript and JavaScript that run and whose tests pass', async () => {
    await aos('plugin', 'new', 'on-call');
    await aos('plugin', 'new', 'jay', '--js');
    // Beside an installed service nothing is linked and nothing has to be installed.
    expect(await readdir(join(folder, 'on-call'))).not.to.include('node_modules');
    for (const name of ['on-call', 'jay'])
      expect(await runAndGetOutput('npm', ['test'], { cwd: join(folder, name) })).to.match(/^# pass 6$/m);

    running = await serve(['./on-call', './jay']);
    const { token } = JSON.parse(
      await aos('token', 'create', '--name', 'test', '--scopes', 'oncall:write,jay:read', '--json'),
    ) as { token: string };
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const added = await fetch(`${running.url}/api/oncall/v1/notes`, {
      method: 'POST',
      headers,
      body: '{"text":"Hello"}',
    });
    expect(added.status).to.equal(201);
    expect((await fetch(`${running.url}/api/jay/v1/notes`, { headers })).status).to.equal(200);
    const listed = JSON.parse(await aos('oncall', 'list', '--json')) as { items: { text: string }[] };
    expect(listed.items.map(({ text }) => text)).to.deep.equal(['Hello']);
    await stop(running);
  });

  it('builds and runs the example of the guide, whose tests pass', async () => {
    const example = join(folder, 'example');
    await cp(join(folder, 'node_modules', 'aos', 'examples', 'on-call'), example, { recursive: true });
    expect(await runAndGetOutput('npm', ['test'], { cwd: example })).to.match(/^# pass 6$/m);

    // The store remembers the migrations of the plugin that had this id before.
    env = { ...env, SVC_DATA_DIR: join(folder, 'example-data') };
    running = await serve(['./example']);
    const scopes = 'oncall:read,oncall:write,bugtracker:report,bugtracker:manage';
    const { token } = JSON.parse(await aos('token', 'create', '--name', 'shifts', '--scopes', scopes, '--json')) as {
      token: string;
    };
    await aos('project', 'create', 'shop');
    const send = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${running?.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      const reported = (await answer.json()) as Record<string, unknown>;
      expect(reported['status'], JSON.stringify(reported)).to.equal('success');
      return reported;
    };
    const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
    await send('/api/oncall/v1/shifts', { person: 'Ada', starts_at: at(-1), ends_at: at(8) });
    const { ref } = await send('/api/bugtracker/v1/report', {
      project: 'shop',
      title: 'The shop is down',
      severity: 'critical',
      client_ref: 'packed-1',
    });
    const headers = { authorization: `Bearer ${token}` };
    const { url } = running;
    const item = async (): Promise<string> =>
      (await fetch(`${url}/api/bugtracker/v1/bugs/${String(ref)}`, { headers })).text();
    // The report is answered when it is stored; who listens to its event comes after that.
    await waitUntil('the comment', async () => (await item()).includes('Ada is on call until'));
    expect(await item()).to.include('plugin:oncall');
    expect(JSON.parse(await aos('oncall', 'now', '--json'))).to.include({ person: 'Ada' });
    await stop(running);
  });
});
