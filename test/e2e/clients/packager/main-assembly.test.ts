/**
 * The version of the build (contract 90, packager): `deps.json`, version info of Windows programs,
 * package.json.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readMainAssembly } from '../../../../clients/packager/main-assembly.js';
import { readPeVersion, toPlainVersion } from '../../../../clients/packager/pe-version.js';
import { writeTree } from './harness.js';

/**
 * Compiled by Mono: with a suffix and a commit in the product version, without them, and without
 * any version.
 */
const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '../../../fixtures/pe');
const DEPS = JSON.stringify({ libraries: { 'Newtonsoft.Json/13.0.3': {}, 'App/2.1.0-rc.1': { type: 'project' } } });

describe('packager: version of the main assembly', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'aos-assembly-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));
  const fixture = (name: string, as = name): Promise<void> => copyFile(join(FIXTURES, name), join(dir, as));

  it('is read from deps.json first', async () => {
    await writeTree(dir, { 'App.deps.json': `\ufeff${DEPS}`, 'package.json': '{"version":"9.0.0"}' });
    await fixture('App.dll');
    expect(await readMainAssembly(dir, 'App.dll')).to.include({ version: '2.1.0-rc.1', source: 'App.deps.json' });
  });

  it('is read from the library when deps.json does not contain it', async () => {
    await writeTree(dir, {
      'App.deps.json': '{"libraries":{"Other/1.0.0":{}}}',
      'package.json': '{"version":"9.0.0"}',
    });
    await fixture('App.dll');
    expect(await readMainAssembly(dir, 'App.dll')).to.include({ version: '4.5.6-beta.2', source: 'App.dll' });
  });

  it('is read from the executable when the library has none', async () => {
    await fixture('None.exe', 'App.dll');
    await fixture('Plain.exe', 'App.exe');
    expect(await readMainAssembly(dir, 'App.dll')).to.include({
      version: '4.5.6.0',
      source: 'App.exe',
      entry: 'App.exe',
    });
  });

  it('is read from package.json when no assembly has a version', async () => {
    await writeTree(dir, { 'package.json': '{"version":"v9.0.0-beta.1+5f3a"}' });
    expect(await readMainAssembly(dir, null)).to.include({
      version: '9.0.0-beta.1',
      source: 'package.json',
      entry: null,
    });
    await fixture('None.exe', 'App.dll');
    expect(await readMainAssembly(dir, 'App.dll')).to.include({ version: '9.0.0-beta.1', source: 'package.json' });
  });

  it('is read from the only application with a runtimeconfig.json, together with its runtime', async () => {
    const runtime = (name: string): string =>
      JSON.stringify({ runtimeOptions: { tfm: 'net8.0', framework: { name, version: '8.0.0' } } });
    await writeTree(dir, {
      'App.runtimeconfig.json': runtime('Microsoft.NETCore.App'),
      'App.deps.json': DEPS,
      App: '',
    });
    expect(await readMainAssembly(dir, null)).to.deep.equal({
      version: '2.1.0-rc.1',
      source: 'App.deps.json',
      entry: 'App',
      runtime: { name: 'Microsoft.NETCore.App', version: '8.0.0' },
    });
    await writeTree(dir, { 'Tool.runtimeconfig.json': runtime('x') });
    expect(await readMainAssembly(dir, null)).to.deep.equal({
      version: null,
      source: null,
      entry: null,
      runtime: null,
    });
  });

  it('includes its runtime, or several runtimes', async () => {
    const write = (options: object): Promise<void> =>
      writeTree(dir, { 'App.runtimeconfig.json': JSON.stringify({ runtimeOptions: options }) });
    await write({ includedFrameworks: [{ name: 'Microsoft.NETCore.App', version: '8.0.1' }] });
    expect((await readMainAssembly(dir, null)).runtime).to.equal(null);
    await write({
      frameworks: [
        { name: 'Microsoft.AspNetCore.App', version: '8.0.0' },
        { name: 'Microsoft.NETCore.App', version: '8.0.0' },
      ],
    });
    expect((await readMainAssembly(dir, null)).runtime?.name).to.equal('Microsoft.AspNetCore.App');
  });

  it('is not guessed from unreadable files', async () => {
    await writeTree(dir, { 'App.dll': 'MZ and nothing', 'App.deps.json': '{' });
    expect(await readMainAssembly(dir, 'App.dll').catch((error: Error) => error.message)).to.match(
      /App\.deps\.json is not valid JSON/,
    );
    expect(await readMainAssembly(dir, 'Other.dll').catch((error: Error) => error.message)).to.match(
      /Other\.dll is not in/,
    );
  });

  it('is normalized, without the part after a plus sign', () => {
    expect(toPlainVersion('1.2.3+abc')).to.equal('1.2.3');
    expect(toPlainVersion(' v1.2 ')).to.equal('1.2');
    expect([
      toPlainVersion(undefined),
      toPlainVersion('one'),
      toPlainVersion('0.0.0.0'),
      toPlainVersion('1, 2, 3'),
    ]).to.deep.equal([null, null, null, null]);
  });

  it('is null for corrupt executables, without an exception', async function () {
    const whole = await readFile(join(FIXTURES, 'App.dll'));
    const file = join(dir, 'broken.dll');
    expect(await readPeVersion(join(FIXTURES, 'App.dll'))).to.equal('4.5.6-beta.2');
    const change = fc.array(fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 })), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(change, fc.nat(whole.length), async (changes, length) => {
        const bytes = Buffer.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        await writeFile(file, bytes.subarray(0, length));
        const version = await readPeVersion(file);
        expect(version === null || /^\d/.test(version)).to.equal(true);
      }),
      { numRuns: 500 },
    );
  });
});
