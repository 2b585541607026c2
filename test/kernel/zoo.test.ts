/** The zoo of broken plugins: each with the exact message that its owner reads. */
import { expect } from 'chai';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KernelMode } from '../../kernel/kernel.js';
import { token } from '../../ports/token.js';
import { bootTestKernel, getRejection, type TestKernel, type HarnessOptions } from '../harness.js';

const ZOO = fileURLToPath(new URL('../fixtures/plugins', import.meta.url));

interface Plain {
  write(text: string): Promise<boolean>;
}
const PLAIN = token<Plain>('jsplain.api');

/** The reasons of the plugins that the service goes on without: it listens. */
async function reasonsOf(options: HarnessOptions): Promise<string[]> {
  const made = await bootTestKernel([], options);
  expect(made.http.state).to.equal('listening');
  const failed = made.kernel.system.listPlugins().filter(({ state }) => state === 'failed');
  await made.stop();
  return failed.map(({ id, reason }) => `plugin ${id}: ${reason}`);
}
const faultsOf = (...plugins: string[]): Promise<string[]> => reasonsOf({ plugins, bases: [ZOO] });

describe('kernel: plugin fixtures', () => {
  const running: TestKernel[] = [];
  const start = async (
    plugins: string[],
    more: { mode?: KernelMode; plugin_timeout_ms?: number } = {},
  ): Promise<TestKernel> => {
    const made = await bootTestKernel([], { plugins, bases: [ZOO], ...more });
    running.push(made);
    return made;
  };
  const stateOf = (made: TestKernel, id: string): string => {
    const found = made.kernel.system.listPlugins().find((plugin) => plugin.id === id);
    return `${found?.state}: ${found?.reason}`;
  };
  afterEach(async () => {
    for (const made of running.splice(0)) await made.stop();
  });

  describe('errors that the service survives', () => {
    it('broken-manifest: reports all errors together', async () => {
      expect(await faultsOf('./broken-manifest.js')).to.deep.equal([
        `plugin brokenmanifest: ${[
          'version must be a semantic version such as "1.2.0"',
          'title is not allowed to be empty',
          'config must be a joi object schema',
          'scopes[0] must be a scope such as "chat:read"',
          'collections[0].indexes[0] is unique, so it must have exactly one field',
          'migrations[1]: its number appears twice',
          'setup must be of type function',
          'colour is not a member of a manifest',
          'fix its manifest (./broken-manifest.js)',
        ].join('; ')}`,
      ]);
    });

    it('cycle-a, cycle-b: reports the complete cycle', async () => {
      expect(await faultsOf('./cycle-a.js', './cycle-b.js')).to.deep.equal([
        'plugin cyclea: is part of a dependency cycle: cyclea → cycleb → cyclea (cyclea needs "cycleb.api" of cycleb, cycleb starts after cyclea); remove one of these dependencies; an event or an extension point breaks a cycle',
      ]);
    });

    it('duplicate: reports id, scope and event, each with both owners', async () => {
      expect(await faultsOf('./js-plain.js', './duplicate.js')).to.deep.equal([
        'plugin ./duplicate.js: two plugins have this id (./js-plain.js and ./duplicate.js); registers the scope "jsplain:read", which plugin jsplain registers too; registers the event "jsplain.pinged", which plugin jsplain registers too; remove one of them; give the scope another name in one of them; give the event another name in one of them',
      ]);
    });

    it('old-api: reports both API numbers, and nothing about unsupported members', async () => {
      expect(await faultsOf('./old-api.js')).to.deep.equal([
        'plugin oldapi: requires plugin API 0, but this service provides 1; install its version for API 1 (./old-api.js)',
      ]);
    });

    it('missing-need: reports the token that no plugin provides', async () => {
      expect(await faultsOf('./missing-need.js')).to.deep.equal([
        'plugin missingneed: needs "nobody.api", which no plugin provides; add the plugin that provides it to `plugins`, or remove this one',
      ]);
    });

    it('import-throws, no-plugin, no-package, missing entry: reports why each cannot be loaded', async () => {
      expect(
        await faultsOf('./import-throws.js', './no-plugin.js', './no-package', './gone.js', 'aos-plugin-gone'),
      ).to.have.members([
        'plugin ./import-throws.js: cannot be loaded: this module cannot be imported; fix the module, or remove the entry from `plugins`',
        'plugin ./no-package: cannot be loaded: the folder has no package.json; add one with `"type": "module"` and `"exports"`',
        `plugin ./gone.js: cannot be loaded: no file or folder with this name in ${ZOO}; install the package, or write the path relative to the configuration file`,
        `plugin aos-plugin-gone: cannot be loaded: no package or file with this name in ${ZOO}; install the package, or write the path relative to the configuration file`,
        'plugin ./no-plugin.js: is not a plugin: it does not export an object; export the plugin as `default` or as `plugin`',
      ]);
    });

    it('names every plugin that has an error', async () => {
      const faults = await faultsOf('./old-api.js', './missing-need.js', './cycle-a.js', './cycle-b.js', './gone.js');
      expect(faults.map((line) => line.slice(0, line.indexOf(':')))).to.have.members([
        'plugin oldapi',
        'plugin missingneed',
        'plugin cyclea',
        'plugin ./gone.js',
      ]);
    });
  });

  describe('in a separate folder', () => {
    let folder = '';
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'aos-zoo-'));
      await writeFile(join(folder, 'syntax-error.mjs'), 'export default { id: ');
      const modules = join(folder, 'node_modules', '@acme', 'aos-chat');
      await mkdir(modules, { recursive: true });
      await writeFile(join(modules, 'package.json'), '{"name":"@acme/aos-chat","type":"module","exports":"./chat.js"}');
      await writeFile(
        join(modules, 'chat.js'),
        'export default { id: "chat", version: "1.0.0", api: 1, title: "Chat", setup: () => ({}) };',
      );
      await mkdir(join(folder, 'conf'));
      await mkdir(join(folder, 'unbuilt'));
      await writeFile(join(folder, 'unbuilt', 'package.json'), '{"main":"dist/index.js"}');
      await writeFile(join(folder, 'hangs.mjs'), 'await new Promise(() => {});');
    });
    after(async () => rm(folder, { recursive: true }));

    it('syntax-error, unbuilt, hangs: reports why each cannot be loaded', async () => {
      const bases = [folder];
      expect(await reasonsOf({ plugins: ['./syntax-error.mjs', './unbuilt'], bases })).to.have.members([
        'plugin ./syntax-error.mjs: cannot be loaded: SyntaxError: Unexpected end of input; fix the module, or remove the entry from `plugins`',
        'plugin ./unbuilt: cannot be loaded: its package.json refers to dist/index.js, which does not exist; build the package',
      ]);
      expect(await reasonsOf({ plugins: ['./hangs.mjs'], bases, plugin_timeout_ms: 200 })).to.deep.equal([
        'plugin ./hangs.mjs: cannot be loaded: TimedOut: its import took longer than 200 ms; fix the module, or remove the entry from `plugins`',
      ]);
    });

    it('loads a package installed above the configuration file', async () => {
      const made = await bootTestKernel([], { plugins: ['@acme/aos-chat'], bases: [join(folder, 'conf')] });
      running.push(made);
      expect(stateOf(made, 'chat')).to.equal('ready: null');
    });
  });

  describe('failures that other plugins survive', () => {
    it('broken: fails with the reason', async () => {
      const made = await start(['./broken.js', './js-plain.js']);
      expect(stateOf(made, 'broken')).to.equal('failed: the ledger cannot be opened');
      expect(stateOf(made, 'jsplain')).to.equal('ready: null');
      expect((await made.kernel.system.checkHealth())['broken']).to.deep.equal({
        ok: false,
        error: 'the ledger cannot be opened',
      });
    });

    it('slow-start: fails after the time limit', async () => {
      const made = await start(['./slow-start.js', './js-plain.js'], { plugin_timeout_ms: 5_000 });
      expect(stateOf(made, 'slowstart')).to.equal('failed: setup took longer than 5000 ms');
      expect(stateOf(made, 'jsplain')).to.equal('ready: null');
    });

    it('throwing-listener: delivers the event, and the producer gets no error', async () => {
      const made = await start(['./throwing-listener.js', './js-plain.js']);
      expect(await made.kernel.findService(PLAIN)?.write('hello')).to.equal(true);
      expect(made.log.messages('error')).to.deep.equal(['a listener failed']);
      expect(made.log.lines.find(({ level }) => level === 'error')?.data).to.include({
        plugin: 'throwinglistener',
        event: 'jsplain.pinged',
      });
    });

    it('throwing-job: fails without affecting other jobs', async () => {
      const made = await start(['./throwing-job.js', './js-plain.js']);
      await made.jobs.runNow('throwingjob.fail');
      await made.jobs.runNow('jsplain.count');
      expect([...made.jobs.failures.keys()]).to.deep.equal(['throwingjob.fail']);
      expect(await made.store.collection('jsplain_notes').count()).to.equal(1);
      expect(stateOf(made, 'throwingjob')).to.equal('ready: null');
    });

    it('lying: rejects undeclared contributions when they are used', async () => {
      const made = await start(['./lying.js', './js-plain.js']);
      const api = made.kernel.findService(token<Record<'read' | 'resolve' | 'shout', () => unknown>>('lying.api'));
      expect(() => api?.read()).to.throw(
        'the collection "secrets" is not in its manifest: declare it in `collections`',
      );
      expect(() => api?.resolve()).to.throw('the token "jsplain.api" is not in its manifest: declare it in `needs`');
      expect((await getRejection(Promise.resolve(api?.shout()))).message).to.equal(
        'the event "lying.shouted" is not in its manifest: declare it in `events`',
      );
    });

    it('lying-setup: fails for an undeclared collection', async () => {
      const made = await start(['./lying-setup.js']);
      expect(stateOf(made, 'lyingsetup')).to.equal(
        'failed: the collection "secrets" is not in its manifest: declare it in `collections`',
      );
    });
  });

  describe('plugins that work', () => {
    it('loads a plain JavaScript file, a package folder and a CommonJS module', async () => {
      const made = await start(['./js-plain.js', './package', './common']);
      expect(made.kernel.system.listPlugins().map(({ id, state }) => `${id} ${state}`)).to.deep.equal([
        'jsplain ready',
        'parcel ready',
        'common ready',
      ]);
      expect((await made.kernel.system.checkHealth())['parcel']).to.deep.equal({ ok: true, boxes: 3 });
      expect(made.http.mounted?.pages[0]?.views).to.equal(join(ZOO, 'views'));
    });

    it('loads plugins without ./ in their path', async () => {
      const made = await start(['js-plain.js', 'package']);
      expect(made.kernel.system.listPlugins().map(({ id }) => id)).to.deep.equal(['jsplain', 'parcel']);
    });
  });
});
