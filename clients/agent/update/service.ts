/**
 * Only the administrator can name a service, in agent.json (contract 90, defaults: `--restart`).
 */
import { execFile, spawn } from 'node:child_process';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildApplicationEnv, buildChildEnv } from '../system/environment.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';
import { findProgram } from '../system/programs.js';

type Env = Readonly<Record<string, string | undefined>>;

export type ServiceVerb = 'stop' | 'start';

export type ServiceControl = (verb: ServiceVerb, service: string) => Promise<void>;

const CONTROL_TIMEOUT_MS = 120_000;

export async function controlService(verb: ServiceVerb, service: string, around: Env): Promise<void> {
  const [program = '', ...args] = await buildCommand(verb, service, around);
  // A user's services are reached through the user's bus.
  const env = buildChildEnv(around, 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS');
  try {
    await promisify(execFile)(program, args, { env, timeout: CONTROL_TIMEOUT_MS, windowsHide: true });
  } catch (error) {
    const stderrText = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new AgentFailure(
      'error',
      `the service ${service} did not ${verb}: ${stderrText || (error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

/**
 * Returns the command. On Windows `net` waits for completion. A user's services belong to that
 * user's systemd.
 */
async function buildCommand(verb: ServiceVerb, service: string, env: Env): Promise<string[]> {
  if (ON_WINDOWS) return [join(env.SystemRoot ?? 'C:\\Windows', 'System32', 'net.exe'), verb, service];
  const systemctl = await findProgram('systemctl', env);
  if (systemctl !== null)
    return process.geteuid?.() === 0 ? [systemctl, verb, service] : [systemctl, '--user', verb, service];
  const old = await findProgram('service', env);
  if (old === null)
    throw new AgentFailure('error', `the service ${service} did not ${verb}: PATH has neither systemctl nor service`);
  return [old, service, verb];
}

const getStarterFile = (name: string): string => (ON_WINDOWS ? `${name}.exe` : name);

/**
 * Starts a release's entry without waiting for it.
 * @param root the installation
 */
export async function startEntry(root: string, entry: string, env: Env): Promise<void> {
  const path = join(root, ...entry.split('/'));
  const starters: Readonly<Record<string, string>> = {
    '.dll': 'dotnet',
    '.js': 'node',
    '.mjs': 'node',
    '.cjs': 'node',
  };
  const starter = starters[extname(entry)];
  const [program, args] =
    starter === undefined ? [path, []] : [await findProgram(getStarterFile(starter), env), [path]];
  if (program === null) throw new AgentFailure('error', `${entry} could not be started: PATH has no ${starter}`);
  const child = spawn(program, args, {
    cwd: root,
    env: buildApplicationEnv(env),
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) =>
      reject(new AgentFailure('error', `${entry} could not be started: ${error.message}`, { cause: error })),
    );
  });
  child.unref();
}
