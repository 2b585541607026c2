/**
 * AOS gives itself out: built, packed by the packager, published to a running AOS, installed by the
 * agent, started from there, and updated while it runs, with its data where it was. Needs a
 * registry, or npm's cache, for the libraries that it needs.
 */
import { expect } from 'chai';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { runAgent, type Ran } from '../clients/agent/agent.js';
import { COMPILED, startPackager } from '../clients/packager/harness.js';
import { waitUntil } from '../../harness.js';
import { packService } from '../../support/packed-service.js';
import { buildCleanEnv, runAndGetOutput, run } from '../../support/programs.js';
import { ADMIN_ACCOUNT, TestService } from '../../support/service.js';

const ROOT = projectRoot();
/** npm's codes for a registry that is not there. */
const UNREACHABLE = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|EAI_AGAIN|ETIMEDOUT|ENOTCACHED)\b/;
const PLATFORM = `linux-${process.arch}`;
/** An optional library that the second version lacks: pretty logs for terminals. */
const DROPPED = 'pino-pretty';

/**
 * Stands in for systemd, which no container runs: the unit's own commands, and the process's end is
 * waited for.
 */
const systemctl = (dir: string, data: string, log: string): string => `#!/bin/sh
pid=${log}.pid
case "$1 $2" in
"stop aos.service")
  kill -TERM "$(cat "$pid")" && while kill -0 "$(cat "$pid")" 2>/dev/null; do sleep 0.1; done
  rm "$pid" ;;
"start aos.service")
  cd ${dir} || exit 1
  SVC_DATA_DIR=${data} SVC_PORT=0 SVC_ADMIN_PASSWORD=${ADMIN_ACCOUNT.password} \\
    setsid ${process.execPath} ${dir}/dist/main.js serve >>${log} 2>&1 </dev/null &
  echo $! >"$pid" ;;
*) exit 64 ;;
esac
`;

describe('AOS distributed by AOS', function () {
  this.timeout(900_000);
  let work: string;
  let dir: string;
  let publisher: TestService;
  let token: string;
  let built: string;
  const data = (): string => join(dir, 'data');

  before(async function () {
    if (process.platform !== 'linux') this.skip();
    work = await mkdtemp(join(tmpdir(), 'aos-ships-'));
    dir = join(work, 'opt', 'aos');
    const output = join(work, 'build');
    const packed = await packService();
    const build = await run(process.execPath, ['scripts/build-service.mjs', '--output', output, '--package', packed], {
      cwd: ROOT,
      limitMs: 600_000,
    });
    if (build.code !== 0 && UNREACHABLE.test(build.stderr)) {
      process.stdout.write('  AOS ships itself: no registry to take its libraries from\n');
      this.skip();
    }
    expect(build.code, build.stderr).to.equal(0);
    built = join(output, PLATFORM);
    const bin = join(work, 'bin');
    await mkdir(bin);
    await writeFile(join(bin, 'systemctl'), systemctl(dir, data(), join(work, 'aos.log')));
    await chmod(join(bin, 'systemctl'), 0o755);
    publisher = await TestService.createStarted();
    await publisher.createProject('aos');
    token = await publisher.createToken('updateservice:publish');
  });
  after(async () => {
    await service('stop').catch(() => null);
    await publisher?.dispose();
    if (work !== undefined) await rm(work, { recursive: true, force: true });
  });

  const path = (): string => `${join(work, 'bin')}:${process.env.PATH ?? ''}`;
  const service = (verb: 'start' | 'stop'): Promise<string> =>
    runAndGetOutput(join(work, 'bin', 'systemctl'), [verb, 'aos.service'], { cwd: work });
  const agent = (...args: string[]): Promise<Ran> =>
    runAgent(
      ['--server', publisher.url, '--project', 'aos', '--dir', dir, '--username', ADMIN_ACCOUNT.username, ...args],
      {
        env: { SVC_PASSWORD: ADMIN_ACCOUNT.password, PATH: path() },
      },
    );
  const aos = async (...args: string[]): Promise<Record<string, unknown>> => {
    const env = buildCleanEnv({ SVC_DATA_DIR: data() });
    const program = join(dir, 'dist', 'main.js');
    return JSON.parse(
      await runAndGetOutput(process.execPath, [program, ...args, '--json'], { cwd: dir, env }),
    ) as Record<string, unknown>;
  };
  /** The address of the installed service, once it takes requests. */
  async function listening(): Promise<string> {
    let url = '';
    await waitUntil('the installed service', async () => {
      const text = await readFile(join(data(), 'server.json'), 'utf8').catch(() => '{}');
      ({ url = '' } = JSON.parse(text) as { url?: string });
      const ready = await fetch(`${url}/api/health/ready`).catch(() => null);
      return ready?.status === 200;
    });
    return url;
  }

  async function publish(): Promise<void> {
    const config = join(built, '..', 'packager.json');
    const ended = await startPackager(
      ['--config', config, '--server', publisher.url],
      { SVC_TOKEN: token },
      { program: COMPILED },
    );
    expect(ended.code, ended.stdout + ended.stderr).to.equal(0);
    const warnings = ended.stderr.split('\n').filter((line) => line.includes('WARNING'));
    expect(warnings, 'nothing looks like a credential, and every pattern matches a file').to.deep.equal([]);
    expect(ended.stdout).to.match(new RegExp(`^PUBLISHED: aos \\S+ \\(stable, ${PLATFORM}\\), signed$`, 'm'));
  }
  async function setVersion(version: string): Promise<void> {
    const file = join(built, 'package.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    await writeFile(file, JSON.stringify({ ...manifest, version }, null, 2));
  }

  it('is installed by the agent and runs in the target directory', async () => {
    await setVersion('1.0.0');
    await publish();
    const installed = await agent('--action', 'install', '--yes');
    expect(installed.code, installed.stdout + installed.stderr).to.equal(0);
    expect(await readdir(dir)).to.include.members(['manifest.json', 'dist', 'node_modules', 'serve.mjs']);
    await service('start');
    const url = await listening();
    expect((await fetch(`${url}/login`)).status).to.equal(200);
  });

  it('is updated while it runs, and retains its data and settings', async () => {
    await aos('project', 'create', 'shop');
    const scopes = 'bugtracker:report,bugtracker:read';
    const { token: mine } = await aos('token', 'create', '--name', 'test', '--scopes', scopes);
    const headers = { authorization: `Bearer ${String(mine)}`, 'content-type': 'application/json' };
    const before = await listening();
    const reported = await fetch(`${before}/api/bugtracker/v1/report`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ project: 'shop', title: 'No receipt', client_ref: 'r-1' }),
    });
    expect(reported.status).to.equal(201);
    const own = { settings: join(dir, 'config', 'local.json'), key: join(data(), 'release-key.pem') };
    await writeFile(own.settings, '{ "log": { "level": "warn" } }');
    const key = await readFile(own.key, 'utf8');
    const health = async (url: string): Promise<unknown> =>
      ((await (await fetch(`${url}/api/health`, { headers })).json()) as { version?: unknown }).version;
    expect(await health(before)).to.equal('1.0.0');

    await setVersion('1.1.0');
    await rm(join(built, 'examples'), { recursive: true });
    await rm(join(built, 'node_modules', DROPPED), { recursive: true });
    await writeFile(join(built, 'dist', 'added.txt'), 'new');
    await publish();
    await writeFile(join(dir, '.update-agent', 'agent.json'), '{ "service": "aos.service" }', { mode: 0o600 });
    const updated = await agent('--restart', '--require-signed');
    expect(updated.code, updated.stdout + updated.stderr).to.equal(0);
    expect(updated.stdout).to.equal('UPDATED: 1.0.0 -> 1.1.0\n');

    const after = await listening();
    expect(await health(after)).to.equal('1.1.0');
    const items = await (await fetch(`${after}/api/bugtracker/v1/bugs?project=shop`, { headers })).json();
    expect((items as { items: { title: string }[] }).items.map(({ title }) => title)).to.deep.equal(['No receipt']);
    expect(await readFile(own.key, 'utf8')).to.equal(key);
    expect(await readFile(own.settings, 'utf8')).to.include('warn');
    expect(await readFile(join(dir, 'dist', 'added.txt'), 'utf8')).to.equal('new');
    for (const gone of ['examples', `node_modules/${DROPPED}`])
      expect(await stat(join(dir, gone)).catch(() => null), `${gone}, which the new version has not`).to.equal(null);
  });
});
