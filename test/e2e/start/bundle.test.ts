/** The program in one file, as the package and the image have it (cli/program.ts). */
import { prepare } from '../../support/prepared.js';
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { done, run } from '../../support/programs.js';
import { CLI, PROGRAM, serviceEnv, TestService } from '../../support/service.js';
import { smallEnv } from '../../support/small-env.js';

describe('the bundle of the program', function () {
  this.timeout(180_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-bundle-test-'));
    await prepare(join(folder, 'data'), (dir) => serviceEnv(dir));
    // Nothing to do when the build has made it.
    await done(process.execPath, ['scripts/bundle.mjs'], { cwd: projectRoot() });
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Our files that a command loads, without those of its threads. */
  async function loadedBy(name: string, words: string[], settings: Record<string, string> = {}): Promise<string[]> {
    const seen = join(folder, name);
    const env = serviceEnv(join(folder, 'data'), { ...settings, NODE_V8_COVERAGE: seen });
    await run(process.execPath, [...PROGRAM, ...words], { cwd: folder, env });
    return filesIn(seen);
  }

  async function filesIn(seen: string): Promise<string[]> {
    const urls = new Set<string>();
    for (const report of await readdir(seen)) {
      const { result } = JSON.parse(await readFile(join(seen, report), 'utf8')) as { result: { url: string }[] };
      for (const { url } of result) urls.add(/(?:^|\/)dist\/(.*)$/.exec(url)?.[1] ?? '');
    }
    return [...urls];
  }

  /** Names of classes in the files that tsc wrote. */
  async function classesOfDist(): Promise<Set<string>> {
    const dist = join(CLI, '..', '..');
    const names = new Set<string>();
    for (const name of await readdir(dist, { recursive: true })) {
      if (!name.endsWith('.js') || /^(bundle|test|clients|testing)\b/.test(name)) continue;
      for (const [, found = ''] of (await readFile(join(dist, name), 'utf8')).matchAll(/\bclass (\w+)/g))
        names.add(found);
    }
    return names;
  }

  it('runs commands, without the files that it was made of', async () => {
    const loaded = await loadedBy('own', ['project', 'list']);
    expect(loaded).to.include.members(['cli/main.js', 'bundle/aos.js']);
    expect(loaded).to.not.include.members(['main.js']);
    expect(loaded.filter((name) => name.startsWith('plugins/'))).to.deep.equal([]);
  });

  it('starts no thread for a command, whether it reads or writes', async () => {
    for (const words of [
      ['project', 'create', 'one', '--name', 'One'],
      ['token', 'list'],
      ['user', 'list'],
      ['migrate'],
      ['token', 'create', '--name', 'x', '--scopes', 'bugtracker:read'],
      ['doctor'],
    ]) {
      const loaded = await loadedBy(words.slice(0, 2).join('-'), words);
      const threads = loaded.filter((name) => /^(bundle\/)?adapters[/.].*(er|threads)\.c?js$/.test(name));
      expect(threads, words.join(' ')).to.deep.equal([]);
    }
  });

  it('starts threads of files of their own, and makes no object of Intl', async () => {
    const [seen, intl] = [join(folder, 'serve'), join(folder, 'intl.txt')];
    const probe = `--import=${new URL('../../support/intl-probe.js', import.meta.url).href}`;
    const made = (): Promise<string> => readFile(intl, 'utf8').catch(() => 'none');
    const service = await TestService.create({ NODE_V8_COVERAGE: seen, NODE_OPTIONS: probe, INTL_SEEN: intl });
    try {
      await service.start();
      expect(await made()).to.equal('none');
      await service.end();
    } finally {
      await service.dispose();
    }
    const loaded = await filesIn(seen);
    const threads = ['writer', 'reader'].map((name) => `bundle/adapters.sqlite.${name}.cjs`);
    expect(loaded).to.include.members(['bundle/aos.js', ...threads]);
    // Nor do they load the files that they were made of.
    expect(loaded.filter((name) => name.startsWith('adapters/'))).to.deep.equal([]);
    // What would have been seen.
    const code = `new Intl.NumberFormat('de'); new Date().toLocaleString();`;
    await done(process.execPath, [probe, '--eval', code], { cwd: folder, env: { ...process.env, INTL_SEEN: intl } });
    expect(await made()).to.match(/^NumberFormat < .*\n(?:.*\n)*toLocaleString < /);
  });

  it('shows each class by the name that it was written with', async () => {
    const [text, agents, files] = await Promise.all([
      readFile(join(CLI, '..', '..', 'bundle', 'aos.js'), 'latin1'),
      readFile(join(CLI, '..', '..', 'bundle', 'mcp.cjs'), 'latin1'),
      classesOfDist(),
    ]);
    const HEAD = /\bclass ([\w$]+)(?:\s+extends\s[^{}]*)?\{(static\{__named\(this,"([\w$]+)")?/g;
    const shownIn = (file: string): string[] =>
      [...file.matchAll(HEAD)].map(({ 1: name = '', 3: given = name }) => given);
    const shown = shownIn(text);
    const other = shown.filter((name) => !files.has(name) && files.has(name.replace(/^_/, '').replace(/\d$/, '')));
    expect(other).to.deep.equal([]);
    expect(shown).to.include.members(['Bundles', 'PinoLogger']);
    expect(shownIn(agents)).to.include('ProtocolError');
    // What not every service needs is no part of the text that each keeps.
    expect(text).to.not.match(/\b(ProtocolError|MongoClient|SMTPTransport|QRCode)\s*=\s*class\b/);
  });

  /** `aos …` with one plugin from outside: what it answered, and our files that it loaded. */
  async function withPlugin(file: string, text: string, ...words: string[]) {
    const path = join(folder, 'outside', file);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text);
    const seen = join(folder, `seen-${file}`);
    const config = join(folder, 'aos.json');
    await writeFile(config, JSON.stringify({ plugins: [path] }));
    const env = serviceEnv(join(folder, 'data'), { SVC_CONFIG: config, NODE_V8_COVERAGE: seen });
    const { code, stdout, stderr } = await run(process.execPath, [...PROGRAM, ...words, '--json'], {
      cwd: folder,
      env,
    });
    const answer = JSON.parse(stdout === '' ? `"${stderr}"` : stdout) as Record<string, unknown>;
    return { code, answer, loaded: await filesIn(seen) };
  }
  const manifest = `id: 'outside', version: '1.0.0', api: 1, title: 'Outside'`;
  /** Of our files there are those of the command line, which prints failures, of Node’s hook, and what loads plugins. */
  const expectOneCopy = (loaded: string[]): void => {
    expect(loaded).to.include('bundle/aos.js');
    expect(loaded.filter((name) => /^(lib|kernel|ports|adapters|plugins)\//.test(name))).to.have.members([
      'lib/process/live-threads.js',
      'kernel/errors.js',
      'kernel/faults.js',
      'kernel/loading/one-contract.js',
      'kernel/loading/bundled.js',
      'kernel/loading/outside.js',
    ]);
  };

  it('hands its own modules to a plugin from outside, whose errors and commands it knows', async () => {
    const text = `import { definePlugin, notFound } from 'aos/plugin';
      import * as domain from 'aos/domain';
      import { LeaseLost } from 'aos/lib/lease';
      import * as plugin from 'aos/plugin';
      const run = () => {
        if (LeaseLost !== plugin.LeaseLost || domain.BUG_CREATED.event !== 'bug.created') throw new Error('others');
        throw notFound('copy of a class');
      };
      export default definePlugin({ ${manifest}, setup: () => ({ commands: [{ name: 'outside refuse', summary: 'Refuses', run }] }) });`;
    const { code, answer, loaded } = await withPlugin('module.mjs', text, 'outside', 'refuse');
    expect(code).to.equal(1);
    expect(answer).to.have.nested.property('error.code', 'not_found');
    expect(answer).to.have.nested.property('error.message', 'There is no copy of a class.');
    expectOneCopy(loaded);
    expect(loaded).to.include.members(['bundle/aos/plugin.mjs', 'bundle/aos/domain.mjs', 'bundle/aos/lib/lease.mjs']);
  });

  it('hands them to a plugin in CommonJS as well, beside the service', async () => {
    await mkdir(join(folder, 'outside', 'node_modules'), { recursive: true });
    await symlink(projectRoot(), join(folder, 'outside', 'node_modules', 'aos'));
    const text = `const { definePlugin, notFound, LeaseLost } = require('aos/plugin');
      const run = async () => {
        const same = LeaseLost === require('aos/lib/lease').LeaseLost && notFound === (await import('aos/plugin')).notFound;
        throw notFound(same ? 'copy of a class' : 'end of copies');
      };
      module.exports = definePlugin({ ${manifest}, setup: () => ({ commands: [{ name: 'outside refuse', summary: 'Refuses', run }] }) });`;
    const { code, answer, loaded } = await withPlugin('common.cjs', text, 'outside', 'refuse');
    expect(code, JSON.stringify(answer)).to.equal(1);
    expect(answer).to.have.nested.property('error.code', 'not_found');
    expect(answer).to.have.nested.property('error.message', 'There is no copy of a class.');
    expectOneCopy(loaded);
  });

  it('says of a module that we do not have that it is not there', async () => {
    const text = `import 'aos/lib/nothing'; export default {};`;
    const { code, answer } = await withPlugin('wrong.mjs', text, 'project', 'list');
    expect(code).to.equal(1);
    expect(JSON.stringify(answer)).to.match(
      /wrong\.mjs: cannot be loaded: Cannot find module '[^']*\/aos\/lib\/nothing/,
    );
  });

  it('has a door for each of our modules that such a plugin may import', async () => {
    const dist = join(CLI, '..', '..');
    const names = await readdir(join(dist, 'lib'), { recursive: true });
    const lib = names.filter((name) => name.endsWith('.js')).map((name) => `lib/${name.slice(0, -3)}`);
    for (const name of ['plugin', 'domain', ...lib]) {
      const own = (await import(`aos/${name}`)) as object;
      const door = (await import(join(dist, 'bundle', 'aos', `${name}.mjs`))) as object;
      expect(Object.keys(door), name).to.deep.equal(Object.keys(own));
    }
  });

  it('knows the commands and the failures of the files', async () => {
    const wrong = await run(
      process.execPath,
      [...PROGRAM, 'token', 'create', '--name', 'x', '--scopes', 'nonsense', '--json'],
      {
        cwd: folder,
        env: serviceEnv(join(folder, 'data')),
      },
    );
    expect(wrong.code).to.equal(1);
    expect(JSON.parse(wrong.stdout)).to.have.nested.property('error.code', 'validation_failed');
  });

  it('is compiled already where it was built, with the settings for little memory too', async () => {
    const code = `import ${JSON.stringify(join(CLI, '..', 'engine-flags.js'))};
      import { bundle } from ${JSON.stringify(join(CLI, '..', 'program.js'))};
      console.log(bundle().script.cachedDataRejected);`;
    for (const settings of [{}, await smallEnv()]) {
      const env = { ...process.env, ...settings };
      const said = await done(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder, env });
      expect(said.trim(), JSON.stringify(settings)).to.equal('false');
    }
  });

  it('tells a failing start as the files do', async () => {
    const service = await TestService.create({ SVC_PORT: '1', SVC_HOST: '203.0.113.1' });
    try {
      const { stderr, code } = await run(process.execPath, [...PROGRAM, 'serve'], { cwd: folder, env: service.env });
      expect(code).to.equal(1);
      expect(stderr).to.include(
        'configuration: server.host 203.0.113.1 is no address of this machine (from environment',
      );
    } finally {
      await service.dispose();
    }
  });
});
