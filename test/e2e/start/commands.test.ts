/** What `aos` knows of its commands without starting anything (contract 95, command line). */
import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { loadOwnCommands, OWN_COMMANDS } from '../../../adapters/cli/own-commands.js';
import { loadCommandTable } from '../../../adapters/cli/asked-table.js';
import { readBuiltCommands } from '../../../adapters/cli/table.js';
import { composition } from '../../../config/compose/composition.js';
import { arePluginsConfigured } from '../../../config/plugin-detection.js';
import { projectRoot } from '../../architecture/tree.js';
import { runCli, CLI_PATH, buildServiceEnv } from '../../support/service.js';

describe('command table', function () {
  let folder: string;

  before(async () => (folder = await mkdtemp(join(tmpdir(), 'aos-commands-'))));
  after(() => rm(folder, { recursive: true, force: true }));

  const env = (extra: Record<string, string> = {}): NodeJS.ProcessEnv => buildServiceEnv(join(folder, 'data'), extra);

  it('matches the commands of the service', async () => {
    const { commands, whole } = await loadCommandTable(composition);
    expect(whole).to.equal(true);
    expect(await readBuiltCommands()).to.deep.equal(JSON.parse(JSON.stringify(commands)));
  });

  it('lists the service’s own commands under the names in their files', async () => {
    expect((await loadOwnCommands()).map(({ name }) => name)).to.deep.equal(Object.keys(OWN_COMMANDS));
  });

  it('is used unless the configuration names plugins', async () => {
    const file = join(folder, 'aos.json');
    await writeFile(file, '{ "server": { "port": 0 } }');
    expect(await arePluginsConfigured({ SVC_CONFIG: file, PLUGINS: 'x' })).to.equal(false);
    expect(await arePluginsConfigured({ SVC_PLUGINS: 'x' })).to.equal(true);
    expect(await arePluginsConfigured({ SVC_PLUGINS_OFF_FILE: 'x' })).to.equal(true);
    await writeFile(file, '{ "plugins_off": ["bugs"] }');
    expect(await arePluginsConfigured({ SVC_CONFIG: file })).to.equal(true);
    expect(await arePluginsConfigured({ SVC_CONFIG: folder })).to.equal(true);
  });

  it('excludes commands of a disabled plugin, in help and on calls', async () => {
    const off = env({ SVC_PLUGINS_OFF: '["releases"]' });
    expect((await runCli(env(), ['--help'])).stdout).to.include('store selftest');
    const help = await runCli(off, ['--help']);
    expect(help.stdout).to.include('token create').and.not.include('store selftest');
    const called = await runCli(off, ['store', 'selftest']);
    expect(called.code).to.equal(64);
    expect(called.stderr).to.include('unknown command "store selftest"');
  });

  it('prints the package version with --version', async () => {
    const { version } = JSON.parse(await readFile(join(projectRoot(), 'package.json'), 'utf8')) as { version: string };
    expect(await runCli(env(), ['--version'])).to.deep.include({ code: 0, stdout: `${version}\n`, stderr: '' });
    expect((await runCli(env(), ['--version', 'x'])).code).to.equal(64);
  });

  it('reports an unknown option in one sentence, with the usage', async () => {
    const { code, stderr } = await runCli(env(), ['tick', '--bogus']);
    expect({ code, stderr }).to.deep.equal({
      code: 64,
      stderr: 'unknown option --bogus\nUsage: aos tick [--quiet] [--json]\n',
    });
  });

  it('exits cleanly when the reader of its output disconnects', async () => {
    const child = spawn(process.execPath, [CLI_PATH, '--help'], { env: env(), stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    const reported = text(child.stderr);
    const [code] = (await once(child, 'close')) as [number];
    expect({ code, told: await reported }).to.deep.equal({ code: 0, told: '' });
  });

  it('loads no library, plugin or composition root for help, version and usage errors', async () => {
    for (const words of [['--help'], ['--version'], ['token', 'create', '--help'], ['serve', '--bogus'], ['nosuch']]) {
      const seen = join(folder, words.join(''));
      await runCli(env({ NODE_V8_COVERAGE: seen }), words);
      const [report = ''] = await readdir(seen);
      const { result } = JSON.parse(await readFile(join(seen, report), 'utf8')) as { result: { url: string }[] };
      const loaded = result.map(({ url }) => /^file:.*\/dist\/(.*)$/.exec(url)?.[1] ?? url);
      expect(loaded).to.include('adapters/cli/main.js');
      const much = loaded.filter(
        (name) =>
          !/^(node:|main\.|adapters\/cli\/|config\/(plugin-detection|compose\/composition)\.|kernel\/(errors|faults)|lib\/)/.test(
            name,
          ),
      );
      expect(much, words.join(' ')).to.deep.equal([]);
    }
  });
});
