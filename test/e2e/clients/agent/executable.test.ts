/**
 * The built executable for linux-x64 (`npm run build:agent`) on a machine without Node: placed by
 * the installer script, then an update, an installation and a monitoring before the real service.
 * Skipped where it was not built, unless SVC_TEST_REQUIRE wants it.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { buildArchive, type SourceFile } from '../../../support/release-server.js';
import { ADMIN_ACCOUNT, TestService } from '../../../support/service.js';
import { waitUntil } from '../../../harness.js';
import { install, remove, scratch } from './agent.js';
import { isRequired } from '../../../support/requirements.js';

const BUILT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', '..', '..', 'build', 'agent');
const NAME = 'update-agent-linux-x64';
const REQUIRED = isRequired('agent');
/** What install.sh may rely on, and what a machine's own reporting needs; no Node. */
const TOOLS = ['sh', 'chmod', 'cut', 'curl', 'id', 'mkdir', 'mktemp', 'mv', 'rm', 'sha256sum', 'uname'];

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

describe('update-agent: executable', function () {
  let service: TestService;
  let dir: string;
  let path: string;
  let agent: string;

  before(async function () {
    if (!REQUIRED && (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync(join(BUILT, NAME)))) {
      this.skip();
    }
    dir = await scratch();
    path = join(dir, 'bin');
    await mkdir(path);
    for (const tool of TOOLS) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `command -v ${tool}`]);
      await symlink(stdout.trim(), join(path, tool));
    }
    agent = join(dir, 'agent', 'update-agent');
    service = await TestService.createStarted({ SVC_SETUP__BUILT_AGENTS: BUILT });
    const offered = async (): Promise<boolean> => (await fetch(`${service.url}/installer/installer.json`)).ok;
    await waitUntil('the agents are in place', offered);
  });
  after(async () => {
    await service?.dispose();
    if (dir !== undefined) await remove(dir);
  });

  /** Nothing but these programs is in its PATH. */
  const run = (program: string, args: string[], env: Record<string, string> = {}): Promise<Ran> =>
    new Promise((resolve, reject) => {
      const child = spawn(program, args, {
        cwd: dir,
        env: { PATH: path, HOME: dir, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const texts = { stdout: '', stderr: '' };
      child.stdout.on('data', (piece: Buffer) => (texts.stdout += piece.toString()));
      child.stderr.on('data', (piece: Buffer) => (texts.stderr += piece.toString()));
      child.once('error', reject);
      child.once('close', (code) => resolve({ code: code ?? -1, ...texts }));
    });
  const asAdmin = { SVC_USERNAME: ADMIN_ACCOUNT.username, SVC_PASSWORD: ADMIN_ACCOUNT.password };

  async function publish(version: string, files: readonly SourceFile[], token: string): Promise<void> {
    const url = `${service.url}/api/updateservice/v1/publish?product=shop&version=${version}&channel=stable`;
    const meta = Buffer.from(JSON.stringify({ entry: 'app.sh' })).toString('base64');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/gzip', 'x-package-meta': meta };
    const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(buildArchive(files)) });
    expect(answer.status, await answer.text()).to.equal(201);
  }

  it('is installed by install.sh with only curl, and prints its version', async () => {
    const text = await (await fetch(`${service.url}/installer/install.sh`)).text();
    await writeFile(join(dir, 'install.sh'), text);
    const placed = await run(join(path, 'sh'), ['install.sh'], { UPDATE_AGENT_DIR: dirname(agent) });
    expect(placed, placed.stderr).to.include({ code: 0, stderr: '' });
    expect(await readdir(dirname(agent))).to.deep.equal(['update-agent']);
    const { version } = JSON.parse(await readFile(join(BUILT, 'installer.json'), 'utf8')) as { version: string };
    expect(await run(agent, ['--version'])).to.deep.equal({
      code: 0,
      stdout: `update-agent ${version}\n`,
      stderr: '',
    });
    expect((await run(agent, ['--help'])).stdout).to.match(/^usage: update-agent \[--action /);
  });

  it('ignores NODE_OPTIONS and Node command-line options', async () => {
    const evil = join(dir, 'evil.cjs');
    await writeFile(evil, `process.stdout.write('evil')`);
    const led = await run(agent, ['--version'], { NODE_OPTIONS: `--require ${evil}`, NODE_PATH: dir });
    expect(led.code).to.equal(0);
    expect(led.stdout + led.stderr).not.to.include('evil');
    expect((await run(agent, ['--eval', '1'])).code).to.equal(64);
  });

  it('updates an installation that contains the agent, and replaces the agent itself', async () => {
    await service.createProject('shop');
    const token = await service.createToken('updateservice:publish');
    const root = join(dir, 'shop');
    const files = (n: number): SourceFile[] => [
      { path: 'app.sh', content: `#!/bin/sh\necho ${n}\n`, mode: '0755' },
      { path: 'update-agent', content: `agent ${n}`, mode: '0755' },
    ];
    await publish('1.0.0', files(1), token);
    const check = await fetch(`${service.url}/api/updateservice/v1/check?product=shop&version=0.1`);
    const { release } = (await check.json()) as { release: { manifest_json: string } };
    await install(root, { manifest: release.manifest_json, files: files(1) });
    // The installation's own agent is the one that runs.
    await promisify(execFile)('cp', [agent, join(root, 'update-agent')]);
    await publish('1.1.0', files(2), token);
    const updated = await run(join(root, 'update-agent'), ['--server', service.url, '--require-signed'], asAdmin);
    expect(updated, updated.stderr).to.deep.equal({ code: 0, stdout: 'UPDATED: 1.0.0 -> 1.1.0\n', stderr: '' });
    expect(await readFile(join(root, 'update-agent'), 'utf8')).to.equal('agent 2');
    expect(await readFile(join(root, 'app.sh'), 'utf8')).to.include('echo 2');
    const again = await run(agent, ['--server', service.url, '--dir', root], asAdmin);
    expect(again.stdout).to.equal('UP_TO_DATE: 1.1.0\n');
    expect(await run(join(root, '.update-agent', 'agent'), ['--action', 'recover'])).to.include({ code: 0 });
  });

  it('installs into a fresh directory, unattended', async () => {
    const root = join(dir, 'fresh');
    const args = ['--action', 'install', '--server', service.url, '--project', 'shop', '--dir', root, '--yes'];
    const ran = await run(agent, args, asAdmin);
    expect(ran, ran.stderr).to.include({ code: 0, stdout: 'UPDATED: none -> 1.1.0\n' });
    expect(await readFile(join(root, 'app.sh'), 'utf8')).to.include('echo 2');
  });

  it('sets up monitoring of the machine', async () => {
    const args = ['--action', 'monitor', '--server', service.url, '--dir', join(dir, 'monitor')];
    const ran = await run(agent, [...args, '--monitor-name', 'bare', '--yes'], asAdmin);
    expect(ran, ran.stderr).to.include({ code: 0, stderr: '' });
    const read = await service.createToken('watchdog:read');
    const { body } = await service.request('GET', '/api/watchdog/v1/monitors', read);
    expect((body['items'] as object[])[0]).to.include({ source: 'bare', state: 'up' });
  });
});
