/** Only `serve`, `restore` and `import` create an installation (contract 95, amendments). */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI_PROGRAM, buildServiceEnv, type CommandOutcome } from '../../support/service.js';

const COMMANDS: readonly string[][] = [
  ['project', 'list'],
  ['project', 'create', 'shop'],
  ['token', 'create', '--name', 'x', '--scopes', 'bugtracker:read'],
  ['token', 'list'],
  ['user', 'list'],
  ['store', 'selftest'],
  ['release-key', 'rotate'],
  ['license-key', 'rotate'],
  ['plugin', 'list'],
  ['migrate'],
  ['tick'],
  ['backup', 'b.tar.gz'],
  ['export', 'e.tar.gz'],
];

describe('commands without an installation', () => {
  let folder: string;
  before(async () => (folder = await realpath(await mkdtemp(join(tmpdir(), 'aos-none-')))));
  after(() => rm(folder, { recursive: true, force: true }));

  /** `cd <folder> && aos …`: without SVC_DATA_DIR it is `data` in there. */
  async function aosThere(args: readonly string[]): Promise<CommandOutcome> {
    const env = buildServiceEnv('');
    delete env['SVC_DATA_DIR'];
    const child = spawn(process.execPath, [...CLI_PROGRAM, ...args], { cwd: folder, env });
    const finished: CommandOutcome = { code: null, stdout: '', stderr: '' };
    child.stdout.on('data', (text: Buffer) => (finished.stdout += text.toString()));
    child.stderr.on('data', (text: Buffer) => (finished.stderr += text.toString()));
    await once(child, 'close');
    return { ...finished, code: child.exitCode };
  }

  for (const words of COMMANDS)
    it(`exits 1 with the reason and creates nothing: aos ${words.slice(0, 2).join(' ')}`, async () => {
      expect(await aosThere(words)).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: `no store in ${join(folder, 'data')} (set SVC_DATA_DIR)\n`,
      });
      expect(await readdir(folder)).to.deep.equal([]);
    });

  it('prints one JSON document with --json', async () => {
    const { code, stdout } = await aosThere(['project', 'list', '--json']);
    expect([code, JSON.parse(stdout)]).to.deep.equal([
      1,
      {
        status: 'error',
        error: { code: 'internal_error', message: `no store in ${join(folder, 'data')} (set SVC_DATA_DIR)` },
      },
    ]);
  });

  it('creates no directory for a restore or import of a missing file', async () => {
    for (const name of ['restore', 'import']) {
      const { code, stderr } = await aosThere([name, 'none.tar.gz']);
      expect([code, stderr]).to.deep.equal([1, `${join(folder, 'none.tar.gz')} does not exist.\n`]);
      expect(await readdir(folder)).to.deep.equal([]);
    }
  });
});
