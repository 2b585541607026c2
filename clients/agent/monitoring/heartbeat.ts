import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { buildChildEnv } from '../system/environment.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';

type Env = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 60_000;
const TRANSIENT_CURL_CODES = new Set([5, 6, 7, 28, 35, 52, 55, 56]);
const CURL_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/**
 * Verifies that curl exists before anything is created.
 * @throws AgentFailure error when the script could not report
 */
export async function checkCurl(): Promise<void> {
  if (ON_WINDOWS) return;
  for (const folder of CURL_FOLDERS)
    if (
      await access(`${folder}/curl`, constants.X_OK).then(
        () => true,
        () => false,
      )
    )
      return;
  throw new AgentFailure('error', 'machine monitoring requires curl; install it first; nothing was changed');
}

/**
 * Returns the environment of a scheduled run: a proxy set only for this run would make the test
 * pass and later heartbeats fail.
 */
function buildScheduledEnv(env: Env): NodeJS.ProcessEnv {
  if (ON_WINDOWS) return buildChildEnv(env);
  const named = Object.fromEntries(Object.entries(env).filter(([name]) => ['HOME', 'LOGNAME', 'USER'].includes(name)));
  return { ...named, ...getHomeEnv() };
}

function getHomeEnv(): { HOME?: string } {
  try {
    return { HOME: userInfo().homedir };
  } catch {
    return {};
  }
}

export async function sendHeartbeat(script: string, env: Env, signal: AbortSignal): Promise<void> {
  const [program, args] = ON_WINDOWS
    ? ['powershell.exe', ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', script]]
    : ['/bin/sh', [script]];
  try {
    await promisify(execFile)(program, args, {
      env: buildScheduledEnv(env),
      timeout: TIMEOUT_MS,
      windowsHide: true,
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw new AgentFailure('cancelled', 'cancelled', { cause: error });
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    const transient = typeof code === 'number' && TRANSIENT_CURL_CODES.has(code);
    const why = stderr.trim() || (error as Error).message;
    throw new AgentFailure(transient ? 'transient' : 'error', `the test heartbeat failed: ${why}`, { cause: error });
  }
}
