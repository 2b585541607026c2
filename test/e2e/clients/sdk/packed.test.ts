/**
 * The SDK as its users get it: built, packed, installed into an empty project, and used there as an
 * ES module, by `require`, from TypeScript, and by the README's examples, before the real service.
 */
import { expect } from 'chai';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from '../../../architecture/tree.js';
import { buildArchive } from '../../../support/release-server.js';
import { buildCleanEnv, runAndGetOutput, run } from '../../../support/programs.js';
import { buildSdk } from '../../../support/bundled-programs.js';
import { TestService } from '../../../support/service.js';
import { folder, removeFolder } from '../../../clients/sdk/server.js';

const ROOT = projectRoot();

describe('packed SDK', () => {
  let dir: string;

  before(async () => {
    dir = await folder();
    const built = await buildSdk();
    const pack = ['pack', '--loglevel=error', '--json', '--pack-destination', dir];
    const [{ filename, files }] = JSON.parse(await runAndGetOutput('npm', pack, { cwd: built })) as [
      { filename: string; files: { path: string }[] },
    ];
    expect(files.map(({ path }) => path)).to.include.members([
      'README.md',
      'package.json',
      'esm/index.js',
      'cjs/index.js',
      'browser/index.js',
    ]);
    await writeFile(join(dir, 'package.json'), '{ "private": true }');
    await runAndGetOutput(
      'npm',
      ['install', '--offline', '--no-audit', '--no-fund', '--loglevel=error', `./${filename}`],
      {
        cwd: dir,
      },
    );
  });
  after(() => removeFolder(dir));

  const node = (file: string, env: Record<string, string> = {}): Promise<string> =>
    runAndGetOutput(process.execPath, [file], {
      cwd: dir,
      env: buildCleanEnv({ XDG_CACHE_HOME: join(dir, 'cache'), ...env }),
    });

  it('has no dependencies, and its bundles import only Node', async () => {
    const installed = join(dir, 'node_modules', '@aos', 'sdk');
    const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(manifest)
      .to.include({ name: '@aos/sdk' })
      .and.not.have.any.keys('dependencies', 'scripts', 'peerDependencies');
    for (const form of ['esm', 'cjs']) {
      const text = await readFile(join(installed, form, 'index.js'), 'utf8');
      const imported = [...text.matchAll(/(?: from |require\()"([^"]+)"/g)].map(([, module]) => module);
      expect(imported.filter((module) => module?.startsWith('node:') !== true)).to.deep.equal([]);
    }
    const page = await readFile(join(installed, 'browser', 'index.js'), 'utf8');
    expect(page).to.not.match(/node:|\bBuffer\b|\bprocess\.|require\(/);
  });

  it('loads as an ES module, and by require', async () => {
    const use = `typeof createClient({ server: 'http://127.0.0.1:9', project: 'shop' }).checkForUpdate, typeof verifyLicenseFile`;
    const names = '{ createClient, verifyLicenseFile }';
    await writeFile(join(dir, 'a.mjs'), `import ${names} from '@aos/sdk';\nconsole.log(${use});`);
    await writeFile(join(dir, 'a.cjs'), `const ${names} = require('@aos/sdk');\nconsole.log(${use});`);
    expect(await node('a.mjs')).to.equal('function function\n');
    expect(await node('a.cjs')).to.equal('function function\n');
  });

  it('has strict types for both module formats', async () => {
    const text = (wrong: string): string => `
import { createClient, type UpdateCheck } from '@aos/sdk';
export async function ask(): Promise<UpdateCheck> {
  const client = createClient({ server: 'http://127.0.0.1:9', project: 'shop', licensePublicKey: ['pem'] });
  const { status, valid } = await client.validateLicense('key', { machineId: null }, new AbortController().signal);
  if (valid) await client.reportBug({ title: status ?? '' });
  ${wrong}
  return client.checkForUpdate('1.0', 'stable', 'linux-x64');
}`;
    await mkdir(join(dir, 'node_modules', '@types'), { recursive: true });
    await symlink(join(ROOT, 'node_modules', '@types', 'node'), join(dir, 'node_modules', '@types', 'node'));
    await symlink(join(ROOT, 'node_modules', 'undici-types'), join(dir, 'node_modules', 'undici-types')).catch(
      () => undefined,
    );
    const tsc = (...files: string[]): ReturnType<typeof run> => {
      const options = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
      return run(join(ROOT, 'node_modules', '.bin', 'tsc'), [...options, '--ignoreConfig', ...files], { cwd: dir });
    };
    await writeFile(join(dir, 'good.mts'), text(''));
    await writeFile(join(dir, 'good.cts'), text(''));
    await writeFile(join(dir, 'bad.mts'), text(`await client.checkForUpdate('1.0', 'stable', 'win-x86');`));
    const good = await tsc('good.mts', 'good.cts');
    expect(good.stdout).to.equal('');
    expect(good.code).to.equal(0);
    expect((await tsc('bad.mts')).stdout).to.include('win-x86');
  });

  it('runs the examples of the README with the documented results', async () => {
    const service = await TestService.createInProcess();
    try {
      await service.createProject('shop');
      const token = await service.createToken('bugtracker:report,watchdog:ping,updateservice:publish,license:manage');
      const made = await service.request('POST', '/api/license/v1/licenses', token, { product: 'shop' });
      const pem = (await service.request('GET', '/api/license/v1/pubkey', null)).body['public_key'] as string;
      const published = await fetch(
        `${service.url}/api/updateservice/v1/publish?product=shop&version=2.0&channel=stable`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/gzip' },
          body: new Uint8Array(buildArchive([{ path: 'app.txt', content: 'two' }])),
        },
      );
      expect(published.status).to.equal(201);
      const env = {
        SVC_URL: service.url,
        SVC_TOKEN: token,
        SVC_PRODUCT_KEY: made.body['key'] as string,
        LICENSE_PUBLIC_KEY: pem,
      };
      const readme = await readFile(join(ROOT, 'clients', 'sdk', 'README.md'), 'utf8');
      const printed: string[] = [];
      for (const [, example = ''] of readme.matchAll(/^```js\n([\s\S]*?)^```$/gm)) {
        await writeFile(join(dir, 'example.mjs'), example);
        printed.push((await node('example.mjs', env)).trim());
      }
      expect(printed).to.deep.equal([
        '64',
        'package.tar.gz',
        'agent',
        'active true true',
        'active',
        'true',
        'true\nstopped',
      ]);
    } finally {
      await service.dispose();
    }
  });
});
