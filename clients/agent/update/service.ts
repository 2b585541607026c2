/**
 * Stopping and starting the application (contract 90, defaults: `--restart`). The service is the one that the administrator
 * named in agent.json; a package names none. Without one the release's `entry` is started, detached.
 */
import { execFile, spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { Failure } from '../exit.js';
import { ON_WINDOWS } from '../files.js';

export type Verb = 'stop' | 'start';

/** Ends when the service has done it. */
export type ServiceControl = (verb: Verb, service: string) => Promise<void>;

const MOST_MS = 120_000;

export const controlService: ServiceControl = async (verb, service) => {
  const [program, ...args] = await commandOf(verb, service);
  try {
    await promisify(execFile)(program ?? '', args, { timeout: MOST_MS, windowsHide: true });
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Failure('error', `the service ${service} did not ${verb}: ${said || (error as Error).message}`, {
      cause: error,
    });
  }
};

/** `net` waits for the end on Windows. A user's own services are systemd's of that user. */
async function commandOf(verb: Verb, service: string): Promise<string[]> {
  if (ON_WINDOWS) return [join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'net.exe'), verb, service];
  if (!(await isInPath('systemctl'))) return ['service', service, verb];
  return process.geteuid?.() === 0 ? ['systemctl', verb, service] : ['systemctl', '--user', verb, service];
}

async function isInPath(program: string): Promise<boolean> {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const found = await access(join(folder, program), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (found) return true;
  }
  return false;
}

/** Starts a release's entry and does not wait for it. `root`: the installation. */
export async function startEntry(root: string, entry: string): Promise<void> {
  const path = join(root, ...entry.split('/'));
  const starters: Readonly<Record<string, string>> = {
    '.dll': 'dotnet',
    '.js': 'node',
    '.mjs': 'node',
    '.cjs': 'node',
  };
  const starter = starters[extname(entry)];
  const [program, args] = starter === undefined ? [path, []] : [starter, [path]];
  const child = spawn(program, args, { cwd: root, detached: true, stdio: 'ignore', windowsHide: true });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new Failure('error', `${entry} could not be started: ${error.message}`, { cause: error })),
    );
  });
  child.unref();
}
