/**
 * Suggests the command that installs a missing .NET runtime on this machine (contract 90, runtime
 * check).
 */
import { readFile } from 'node:fs/promises';
import type { FrameworkReference } from './roll-forward.js';

interface RuntimePackages {
  /** Package names; `{v}` is major.minor, `{m}` the major version. */
  linux: string;
  alpine: string;
  arch: string;
  winget: string;
  script: string;
}

const DEFAULT_PACKAGES: RuntimePackages = {
  linux: 'dotnet-runtime-{v}',
  alpine: 'dotnet{m}-runtime',
  arch: 'dotnet-runtime-{v}',
  winget: 'Microsoft.DotNet.Runtime.{m}',
  script: 'dotnet',
};
const PACKAGES_BY_FRAMEWORK: Readonly<Record<string, RuntimePackages>> = {
  'Microsoft.AspNetCore.App': {
    linux: 'aspnetcore-runtime-{v}',
    alpine: 'aspnetcore{m}-runtime',
    arch: 'aspnet-runtime-{v}',
    winget: 'Microsoft.DotNet.AspNetCore.{m}',
    script: 'aspnetcore',
  },
  'Microsoft.WindowsDesktop.App': {
    ...DEFAULT_PACKAGES,
    winget: 'Microsoft.DotNet.DesktopRuntime.{m}',
    script: 'windowsdesktop',
  },
};

async function readDistributionIds(): Promise<string[]> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return [...text.matchAll(/^ID(?:_LIKE)?="?([^"\n]*)"?$/gm)].flatMap(([, names = '']) => names.split(' '));
}

export async function getInstallCommand(
  { name, version }: Pick<FrameworkReference, 'name' | 'version'>,
  system: NodeJS.Platform = process.platform,
  names?: readonly string[],
): Promise<string> {
  const kind = PACKAGES_BY_FRAMEWORK[name] ?? DEFAULT_PACKAGES;
  const [major = '', minor = ''] = version.split('.');
  const fill = (text: string): string => text.replace('{v}', `${major}.${minor}`).replace('{m}', major);
  if (system === 'win32') return `winget install --exact --id ${fill(kind.winget)}`;
  const known = names ?? (await readDistributionIds());
  const is = (...ids: string[]): boolean => ids.some((id) => known.includes(id));
  if (is('alpine')) return `apk add ${fill(kind.alpine)}`;
  if (is('debian', 'ubuntu')) return `sudo apt-get install -y ${fill(kind.linux)}`;
  if (is('fedora', 'rhel', 'centos')) return `sudo dnf install -y ${fill(kind.linux)}`;
  if (is('suse', 'opensuse', 'sles')) return `sudo zypper install -y ${fill(kind.linux)}`;
  if (is('arch')) return `sudo pacman -S ${fill(kind.arch)}`;
  return `curl -fsSL https://dot.net/v1/dotnet-install.sh | bash -s -- --runtime ${kind.script} --channel ${major}.${minor}`;
}
