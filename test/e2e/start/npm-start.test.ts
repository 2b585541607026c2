/** `npm start` is one process that ends with npm (contract 95). */
import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../../harness.js';
import { buildServiceEnv } from '../../support/service.js';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

const runs = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe('npm start', function () {
  let folder: string;
  let npm: ChildProcess;
  let output: string;
  before(async () => {
    // The build is the one that runs this test: `npm start` would write it again below the other
    // tests.
    folder = await mkdtemp(join(tmpdir(), 'aos-npm-'));
    const { scripts, ...rest } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const written = { ...rest, scripts: { start: scripts['start'], build: 'node -e "" ' } };
    await writeFile(join(folder, 'package.json'), JSON.stringify(written));
    await cp(join(ROOT, 'scripts', 'start.mjs'), join(folder, 'scripts', 'start.mjs'));
    for (const name of ['dist', 'node_modules', 'config', 'docs']) await symlink(join(ROOT, name), join(folder, name));
  });
  afterEach(() => npm.kill('SIGKILL'));
  after(() => rm(folder, { recursive: true, force: true }));

  async function start(name: string): Promise<number> {
    const data = join(folder, name);
    npm = spawn('npm', ['start', '--silent'], {
      cwd: folder,
      env: buildServiceEnv(data),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    output = '';
    for (const stream of [npm.stdout, npm.stderr]) stream?.on('data', (text: Buffer) => (output += text.toString()));
    await waitUntil('it listens', () => output.includes('listening on ') || npm.exitCode !== null, 120_000);
    const { pid } = JSON.parse(await readFile(join(data, 'server.json'), 'utf8')) as { pid: number };
    expect(runs(pid), output).to.equal(true);
    return pid;
  }

  for (const signal of ['SIGTERM', 'SIGINT', 'SIGKILL'] as const)
    it(`stops the server cleanly when npm receives ${signal}`, async () => {
      const data = `data-${signal}`;
      const pid = await start(data);
      npm.kill(signal);
      await waitUntil('the server has ended', () => !runs(pid), 60_000);
      // A server that was killed leaves it.
      expect(existsSync(join(folder, data, 'server.json'))).to.equal(false);
    });

  it('prints its progress before it listens', async () => {
    await start('data-lines');
    const lines = output.split('\n').filter((line) => /^(Building|Creating|listening)/.test(line));
    expect(lines[0]).to.equal('Building…');
    expect(lines[1]).to.equal('Creating the store in data-lines/…');
    expect(lines[2]).to.match(/^listening on http/);
  });
});
