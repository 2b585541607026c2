/**
 * `aos plugin new`, in the checkout and beside it: what it writes runs, and its tests are green.
 */
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { runCliInProcess } from '../../support/in-process-cli.js';
import { CLI_PATH, type CommandOutcome } from '../../support/service.js';
import { buildCleanEnv, runAndGetOutput, run, type ProgramResult } from '../../support/programs.js';

/** Also without the blank lines, which a compiler drops. */
export const plainCode = async (file: string): Promise<string> => {
  const { format } = await import('prettier');
  const text = await format(await readFile(file, 'utf8'), { parser: 'babel', singleQuote: true, printWidth: 120 });
  return text.replaceAll(/^\s*(\/\/.*)?\n/gm, '').replaceAll(/^\s*\/\*\*[^]*?\*\/\n/gm, '');
};

const STARTED = new Set(['../call', 'a', 'bugs']);

describe('aos plugin new', function () {
  const folders: string[] = [];
  /** Not in `dist`, which other tests walk through and copy meanwhile. */
  const inCheckout = join(projectRoot(), 'build');
  const fresh = async (above: string): Promise<string> => {
    await mkdir(above, { recursive: true });
    const folder = await mkdtemp(join(above, 'aos-plugins-'));
    folders.push(folder);
    return folder;
  };
  const aos = (cwd: string, ...args: string[]): Promise<ProgramResult> =>
    run(process.execPath, [CLI_PATH, ...args], { cwd });
  const here = async (cwd: string, ...args: string[]): Promise<CommandOutcome> => {
    const from = process.cwd();
    process.chdir(cwd);
    try {
      return await runCliInProcess(buildCleanEnv(), args);
    } finally {
      process.chdir(from);
    }
  };
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

  it('prints the created files and the next step, as text and as JSON', async () => {
    const cwd = await fresh(tmpdir());
    const reported = await aos(cwd, 'plugin', 'new', 'on-call');
    expect(reported).to.include({ code: 0, stderr: '' });
    expect(reported.stdout).to.match(/^wrote \.\/on-call:\n {2}\.gitignore\n {2}README\.md\n/);
    expect(reported.stdout)
      .to.include('{ "plugins": ["./on-call"] }')
      .and.include('cd on-call && npm install && npm test');
    const answer = JSON.parse((await aos(cwd, 'plugin', 'new', 'jay', '--js', '--json')).stdout) as {
      name: string;
      id: string;
      folder: string;
      files: string[];
    };
    expect(answer).to.include({ name: 'jay', id: 'jay', folder: join(cwd, 'jay') });
    const written = await readdir(join(cwd, 'jay'), { recursive: true });
    expect(written).to.include.members(answer.files);
    expect(answer.files).to.include.members(['src/plugin.js', 'src/plugin.test.js', 'views/notes.hbs', 'README.md']);
    expect(answer.files.some((file) => file.endsWith('.ts'))).to.equal(false);
  });

  it('leaves no template placeholder', async () => {
    const cwd = await fresh(tmpdir());
    await aos(cwd, 'plugin', 'new', 'night-shift');
    const meta = JSON.parse(await readFile(join(cwd, 'night-shift', 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >;
    expect(meta['name']).to.equal('night-shift');
    const plugin = await readFile(join(cwd, 'night-shift', 'src', 'plugin.ts'), 'utf8');
    expect(plugin).to.include("id: 'nightshift'").and.include("title: 'Night shift'");
    for (const file of await readdir(join(cwd, 'night-shift'), { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue;
      expect(await readFile(join(file.parentPath, file.name), 'utf8'), file.name).not.to.match(/sample|FOLDER/i);
    }
  });

  const rejected: [name: string, says: string][] = [
    ['On-Call', 'must be lower-case letters and digits'],
    ['on_call', 'must be lower-case letters and digits'],
    ['-call', 'must be lower-case letters and digits'],
    ['../call', 'must be lower-case letters and digits'],
    ['on--call', 'must be lower-case letters and digits'],
    ['a', 'must have 2 to 32'],
    ['a'.repeat(33), 'must have 2 to 32'],
    ['bugs', 'is in use by the service'],
    ['kernel', 'is in use by the service'],
    ['token', 'is in use by the service'],
    ['system', 'is in use by the service'],
  ];
  for (const [name, says] of rejected) {
    it(`rejects ${name.slice(0, 12)}: ${says}`, async () => {
      const cwd = await fresh(tmpdir());
      // As a program, one of each of the three; the others in this process.
      const reported = await (STARTED.has(name) ? aos : here)(cwd, 'plugin', 'new', '--js', '--', name);
      expect(reported).to.include({ code: 64, stdout: '' });
      expect(reported.stderr)
        .to.include(`"${name}" ${says}`)
        .and.include('Usage: aos plugin new <name> [--js] [--json]');
      expect(await readdir(cwd)).to.deep.equal([]);
    });
  }

  it('rejects an existing folder and leaves it unchanged, and reports a missing name as a usage error', async () => {
    const cwd = await fresh(tmpdir());
    await mkdir(join(cwd, 'chat'));
    const reported = await aos(cwd, 'plugin', 'new', 'chat', '--json');
    expect(reported.code).to.equal(1);
    expect(JSON.parse(reported.stdout)).to.deep.include({ status: 'error' });
    expect(reported.stdout).to.include('./chat already exists');
    expect(await readdir(join(cwd, 'chat'))).to.deep.equal([]);
    expect(await aos(cwd, 'plugin', 'new')).to.include({ code: 64 });
    const help = await aos(cwd, 'plugin', 'new', '--help');
    expect(help).to.include({ code: 0 });
    expect(help.stdout).to.include('Usage: aos plugin new <name> [--js] [--json]');
  });

  it('creates a plugin even with an invalid configuration', async () => {
    const cwd = await fresh(tmpdir());
    const env = buildCleanEnv({ SVC_CONFIG: 'missing.json' });
    expect(await run(process.execPath, [CLI_PATH, 'plugin', 'new', 'jay', '--js'], { cwd, env })).to.include({
      code: 0,
    });
    expect(await run(process.execPath, [CLI_PATH, 'plugin', 'new', 'bugs', '--js'], { cwd, env })).to.include({
      code: 64,
    });
  });

  for (const [where, above] of [
    ['in the checkout', inCheckout],
    ['beside it', tmpdir()],
  ] as const) {
    it(`creates a plugin that runs, and whose tests pass, in plain JavaScript ${where}`, async () => {
      const cwd = await fresh(above);
      await aos(cwd, 'plugin', 'new', 'jay', '--js');
      expect(await runAndGetOutput('npm', ['test'], { cwd: join(cwd, 'jay') })).to.match(/^# pass 6$/m);
    });
  }

  it('creates a TypeScript plugin whose tests pass before it is compiled', async () => {
    const cwd = await fresh(inCheckout);
    await aos(cwd, 'plugin', 'new', 'tess');
    const folder = join(cwd, 'tess');
    expect(await runAndGetOutput(process.execPath, ['--test', 'dist/plugin.test.js'], { cwd: folder })).to.match(
      /^# pass 6$/m,
    );
    const names = await readdir(join(folder, 'dist'));
    const written = await Promise.all(names.map((name) => plainCode(join(folder, 'dist', name))));
    await rm(join(folder, 'dist'), { recursive: true });
    expect(await runAndGetOutput('npm', ['test'], { cwd: folder })).to.match(/^# pass 6$/m);
    const compiled = await Promise.all(names.map((name) => plainCode(join(folder, 'dist', name))));
    names.forEach((name, i) => expect(compiled[i], name).to.equal(written[i]));
  });
});
