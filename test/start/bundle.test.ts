/** The program in one file, as `npm start` and the package have it (cli/program.ts). */
import { expect } from 'chai';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outsidePluginsAreNamed } from '../../config/plugins-named.js';
import { projectRoot } from '../architecture/tree.js';
import { done, run } from '../support/programs.js';
import { CLI, PROGRAM, serviceEnv, TestService } from '../support/service.js';

describe('the bundle of the program', function () {
  this.timeout(180_000);
  let folder: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'aos-bundle-test-'));
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
    const probe = `--import=${new URL('../support/intl-probe.js', import.meta.url).href}`;
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

  it('is left aside for plugins from outside, which share classes with the files', async () => {
    const plugin = join(folder, 'plugin');
    await mkdir(plugin);
    await writeFile(
      join(plugin, 'outside.js'),
      `import { definePlugin } from 'aos/plugin';
      export default definePlugin({ id: 'outside', version: '1.0.0', api: 1, title: 'Outside', setup: () => ({}) });`,
    );
    const loaded = await loadedBy('outside', ['project', 'list'], {
      SVC_PLUGINS: JSON.stringify([join(plugin, 'outside.js')]),
    });
    expect(loaded).to.include('main.js');
    expect(loaded).to.not.include('bundle/aos.js');
  });

  it('is left aside whenever the configuration may name such plugins, not when it switches some off', async () => {
    const file = join(folder, 'aos.json');
    const named = async (text: string): Promise<boolean> => {
      await writeFile(file, text);
      return outsidePluginsAreNamed({ SVC_CONFIG: file });
    };
    expect(await outsidePluginsAreNamed({ SVC_PLUGINS: '[]' })).to.equal(true);
    expect(await outsidePluginsAreNamed({ SVC_PLUGINS__0: './x.js' })).to.equal(true);
    expect(await outsidePluginsAreNamed({ SVC_PLUGINS_OFF: '["bugs"]' })).to.equal(false);
    expect(await named('{ "plugins_off": ["bugs"] }')).to.equal(false);
    expect(await named('{ "plugins" : ["./x.js"] }')).to.equal(true);
    expect(await named(String.raw`{ "\u0070lugins": ["./x.js"] }`)).to.equal(true);
    expect(await outsidePluginsAreNamed({ SVC_CONFIG: folder })).to.equal(true);
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

  it('is compiled already where it was built', async () => {
    const code = `import ${JSON.stringify(join(CLI, '..', 'engine-flags.js'))};
      import { bundle } from ${JSON.stringify(join(CLI, '..', 'program.js'))};
      console.log(bundle().script.cachedDataRejected);`;
    const said = await done(process.execPath, ['--input-type=module', '--eval', code], { cwd: folder });
    expect(said.trim()).to.equal('false');
  });

  it('tells a failing start as the files do', async () => {
    const service = await TestService.first({ SVC_PORT: '1', SVC_HOST: '203.0.113.1' });
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
