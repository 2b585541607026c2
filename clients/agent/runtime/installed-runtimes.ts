import { execFile } from 'node:child_process';
import { access, constants, readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import { buildChildEnv } from '../system/environment.js';
import { ON_WINDOWS } from '../system/files.js';
import { isRootControlled } from '../system/programs.js';

type Env = Readonly<Record<string, string | undefined>>;

const LIST_TIMEOUT_MS = 30_000;
const LINE_PATTERN = /^(\S+) (\S+) \[.*\]$/;

export async function listInstalledRuntimes(env: Env): Promise<ReadonlyMap<string, string[]>> {
  const program = await findDotnet(env);
  if (program === null) return new Map();
  const { stdout } = await promisify(execFile)(program, ['--list-runtimes'], {
    env: buildChildEnv(env, /^DOTNET_/),
    timeout: LIST_TIMEOUT_MS,
    windowsHide: true,
  }).catch(() => ({ stdout: '' }));
  return parseRuntimeList(stdout);
}

export function parseRuntimeList(text: string): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const line of text.split(/\r?\n/)) {
    const [, name, version] = LINE_PATTERN.exec(line.trim()) ?? [];
    if (name !== undefined && version !== undefined) found.set(name, [...(found.get(name) ?? []), version]);
  }
  return found;
}

/**
 * Searches like a .NET application: `DOTNET_ROOT`, the registered location, the usual ones, then
 * the path.
 */
async function findDotnet(env: Env): Promise<string | null> {
  const file = ON_WINDOWS ? 'dotnet.exe' : 'dotnet';
  const roots = [
    env[`DOTNET_ROOT_${process.arch.toUpperCase()}`],
    env.DOTNET_ROOT,
    ...(env.PATH ?? env.Path ?? '').split(delimiter),
    await readRegisteredLocation(),
    ...(ON_WINDOWS
      ? [join(env.ProgramFiles ?? 'C:\\Program Files', 'dotnet')]
      : ['/usr/share/dotnet', '/usr/lib/dotnet', '/usr/lib64/dotnet']),
  ];
  for (const root of roots) {
    if (root === undefined || !isAbsolute(root)) continue;
    const path = join(root, file);
    const runs = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (runs && (await isRootControlled(path))) return path;
  }
  return null;
}

async function readRegisteredLocation(): Promise<string> {
  if (ON_WINDOWS) return '';
  for (const path of [`/etc/dotnet/install_location_${process.arch}`, '/etc/dotnet/install_location']) {
    const text = await readFile(path, 'utf8').catch(() => '');
    if (text.trim() !== '') return text.trim();
  }
  return '';
}
