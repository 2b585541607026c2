/**
 * Which runtimes are missing (contract 90, runtime check): the host's published rules as a table.
 */
import { expect } from 'chai';
import { getInstallCommand } from '../../../clients/agent/runtime/install-command.js';
import { parseRuntimeList } from '../../../clients/agent/runtime/installed-runtimes.js';
import {
  ROLL_FORWARD_POLICIES,
  resolveFramework,
  type RollForwardPolicy,
} from '../../../clients/agent/runtime/roll-forward.js';
import { parseRuntimeConfig } from '../../../clients/agent/runtime/runtime-config.js';

/**
 * Wanted, policy, installed, what it runs on; the examples of dotnet/runtime's
 * framework-version-resolution.md among them.
 */
const TABLE: [wanted: string, policy: RollForwardPolicy, installed: string, runsOn: string | null][] = [
  ['3.0.1', 'Minor', '3.0.0', null],
  ['3.0.0', 'Minor', '', null],
  // Minor: the newest patch of the minor version, else of the lowest higher one.
  ['3.0.0', 'Minor', '3.0.0 3.0.2 3.1.0', '3.0.2'],
  ['3.0.1', 'Minor', '3.0.0 3.1.0 3.1.4 3.2.0', '3.1.4'],
  ['3.0.0', 'Minor', '4.0.0', null],
  ['3.1.0', 'Minor', '3.0.9', null],
  // LatestPatch stays in its minor version.
  ['3.0.0', 'LatestPatch', '3.0.0 3.0.10 3.0.9 3.1.0', '3.0.10'],
  ['3.0.0', 'LatestPatch', '3.1.0', null],
  // Major: the lowest higher major version, and its lowest minor one.
  ['3.0.0', 'Major', '3.1.0 4.0.0', '3.1.0'],
  ['3.0.0', 'Major', '2.9.0 4.1.0 4.1.3 4.2.0 5.0.0', '4.1.3'],
  ['3.0.0', 'Major', '2.9.0', null],
  // The highest, even where the wanted one is there.
  ['3.0.0', 'LatestMinor', '3.0.0 3.1.0 3.2.1 4.0.0', '3.2.1'],
  ['3.0.0', 'LatestMinor', '4.0.0', null],
  ['3.0.0', 'LatestMajor', '3.0.0 3.1.0 10.0.1 9.0.0', '10.0.1'],
  // Disable: this one alone.
  ['3.0.0', 'Disable', '3.0.0 3.0.1', '3.0.0'],
  ['3.0.0', 'Disable', '3.0.1', null],
  // A release prefers releases, and takes a pre-release where there is no other.
  ['3.0.0', 'Minor', '3.0.0 3.0.1-preview', '3.0.0'],
  ['3.0.0', 'Minor', '3.0.1-preview 3.1.0', '3.1.0'],
  ['2.0.0', 'LatestMajor', '3.0.0 3.0.1-preview', '3.0.0'],
  ['3.0.0', 'Minor', '3.0.1-preview', '3.0.1-preview'],
  ['3.0.0', 'Minor', '3.0.1-preview.1 3.0.1-preview.2', '3.0.1-preview.1'],
  ['3.0.0', 'Minor', '3.0.0-preview', null],
  ['3.0.0', 'Major', '4.0.0-rc.1', '4.0.0-rc.1'],
  ['3.0.0', 'Disable', '3.0.0-rc.1', null],
  // A pre-release treats all alike; the newest patch is for releases.
  ['3.0.0-preview2', 'Minor', '3.0.0-preview2 3.0.0-preview3', '3.0.0-preview2'],
  ['3.0.0-preview.2', 'Minor', '3.0.0-preview.10', '3.0.0-preview.10'],
  ['3.0.0-preview.2', 'Minor', '3.0.0-preview.1', null],
  ['3.0.0-preview4', 'Minor', '3.0.0 3.0.3', '3.0.3'],
  ['3.0.0-preview4', 'LatestPatch', '3.1.0', null],
  ['x', 'Minor', '3.0.0', null],
];

describe('update-agent: .NET runtimes', () => {
  for (const [wanted, policy, installed, runsOn] of TABLE)
    it(`resolves ${wanted} ${policy} with ${installed || 'nothing'} to ${runsOn ?? 'missing'}`, () => {
      const versions = installed.split(' ').filter(Boolean);
      const reference = { version: wanted, policy, applyPatches: true };
      expect(resolveFramework(reference, versions)).to.equal(runsOn);
      expect(resolveFramework(reference, versions.toReversed()), 'in any order').to.equal(runsOn);
    });

  it('treats pre-releases like releases with DOTNET_ROLL_FORWARD_TO_PRERELEASE=1', () => {
    const reference = { version: '3.0.0', policy: 'Minor' as const, applyPatches: true };
    expect(resolveFramework(reference, ['3.0.0', '3.0.1-preview'], true)).to.equal('3.0.1-preview');
    expect(resolveFramework(reference, ['3.0.1-preview', '3.1.0'], true)).to.equal('3.0.1-preview');
    expect(resolveFramework(reference, ['3.0.0-preview'], true)).to.equal(null);
  });

  it('uses the nearest patch version with applyPatches: false', () => {
    const reference = { version: '3.0.0', policy: 'Minor' as const, applyPatches: false };
    expect(resolveFramework(reference, ['3.0.1', '3.0.2'])).to.equal('3.0.1');
  });

  describe('*.runtimeconfig.json', () => {
    const core = { name: 'Microsoft.NETCore.App', version: '8.0.0' };
    const read = (runtimeOptions: unknown, env: Record<string, string> = {}) =>
      parseRuntimeConfig(JSON.stringify({ runtimeOptions }), env);
    const policies = (...args: Parameters<typeof read>): RollForwardPolicy[] | undefined =>
      read(...args)?.map(({ policy }) => policy);

    it('reads a single framework or a list of frameworks', () => {
      expect(read({ framework: core })).to.deep.equal([{ ...core, policy: 'Minor', applyPatches: true }]);
      const frameworks = [core, { name: 'Microsoft.AspNetCore.App', version: '8.0.1' }];
      expect(read({ frameworks })?.map(({ name }) => name)).to.deep.equal([core.name, 'Microsoft.AspNetCore.App']);
    });

    it('returns no framework for a self-contained program', () => {
      expect(read({ includedFrameworks: [core] })).to.deep.equal([]);
      expect(read({ tfm: 'net8.0' })).to.deep.equal([]);
    });

    it('prefers the environment to the framework’s setting, and that to the file’s, case-insensitively', () => {
      expect(policies({ rollForward: 'major', framework: core })).to.deep.equal(['Major']);
      const own = { rollForward: 'Major', frameworks: [{ ...core, rollForward: 'Disable' }, core] };
      expect(policies(own)).to.deep.equal(['Disable', 'Major']);
      expect(policies(own, { DOTNET_ROLL_FORWARD: 'LatestMajor' })).to.deep.equal(['LatestMajor', 'LatestMajor']);
      for (const policy of ROLL_FORWARD_POLICIES)
        expect(policies({ rollForward: policy, framework: core })).to.deep.equal([policy]);
    });

    it('reads the legacy setting', () => {
      for (const [n, policy] of ['LatestPatch', 'Minor', 'Major'].entries()) {
        expect(policies({ rollForwardOnNoCandidateFx: n, framework: core })).to.deep.equal([policy]);
        const env = { DOTNET_ROLL_FORWARD_ON_NO_CANDIDATE_FX: String(n) };
        expect(policies({ framework: core }, env)).to.deep.equal([policy]);
      }
    });

    it('accepts comments, and rejects invalid content', () => {
      expect(parseRuntimeConfig('{ /* x */ "runtimeOptions": {}, }', {})).to.deep.equal([]);
      for (const text of ['', '[]', '{}', '{"runtimeOptions":1}'])
        expect(parseRuntimeConfig(text, {}), text).to.equal(null);
      expect(read({ framework: { name: 'x; rm', version: '8.0.0' } })).to.equal(null);
      expect(read({ framework: { name: core.name, version: '8; rm' } })).to.equal(null);
    });
  });

  it('parses the output of dotnet --list-runtimes', () => {
    const list =
      'Microsoft.AspNetCore.App 8.0.5 [/usr/share/dotnet/shared/Microsoft.AspNetCore.App]\r\n' +
      'Microsoft.NETCore.App 6.0.1 [C:\\Program Files\\dotnet\\shared\\Microsoft.NETCore.App]\n' +
      'Microsoft.NETCore.App 8.0.5-rc.1 [/x y/z]\nsomething else\n';
    expect(Object.fromEntries(parseRuntimeList(list))).to.deep.equal({
      'Microsoft.AspNetCore.App': ['8.0.5'],
      'Microsoft.NETCore.App': ['6.0.1', '8.0.5-rc.1'],
    });
  });

  it('returns the dotnet command of the platform', async () => {
    const command = (name: string, system: NodeJS.Platform, ...names: string[]): Promise<string> =>
      getInstallCommand({ name: `Microsoft.${name}.App`, version: '8.0.0' }, system, names);
    expect(await command('NETCore', 'win32')).to.equal('winget install --exact --id Microsoft.DotNet.Runtime.8');
    expect(await command('WindowsDesktop', 'win32')).to.include('Microsoft.DotNet.DesktopRuntime.8');
    expect(await command('AspNetCore', 'linux', 'ubuntu', 'debian')).to.equal(
      'sudo apt-get install -y aspnetcore-runtime-8.0',
    );
    expect(await command('NETCore', 'linux', 'rocky', 'rhel')).to.equal('sudo dnf install -y dotnet-runtime-8.0');
    expect(await command('NETCore', 'linux', 'alpine')).to.equal('apk add dotnet8-runtime');
    expect(await command('AspNetCore', 'linux', 'unknown')).to.match(
      /dotnet-install\.sh .*--runtime aspnetcore --channel 8\.0$/,
    );
  });
});
