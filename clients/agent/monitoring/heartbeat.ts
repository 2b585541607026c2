/** One heartbeat by the script itself, so that what is scheduled is known to work. */
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { promisify } from 'node:util';
import { childEnv } from '../system/environment.js';
import { AgentFailure } from '../exit.js';
import { ON_WINDOWS } from '../system/files.js';

type Env = Readonly<Record<string, string | undefined>>;

/** The script itself waits 10 s for the server. */
const MOST_MS = 60_000;
/** Exit codes of curl for what goes by: names, connections, timeouts. */
const TRANSIENT = new Set([5, 6, 7, 28, 35, 52, 55, 56]);
/** Where the script looks for it. */
const CURL_FOLDERS = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** @throws AgentFailure error: the script could not report, and says so before anything is made */
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
  throw new AgentFailure('error', 'the monitoring of a machine needs curl: install it first; nothing was changed');
}

/**
 * As a schedule starts it: a proxy that only this run knows of would make the test pass and every later heartbeat fail,
 * and curl reads `.curlrc` in HOME, which may be another user's where root came by `sudo`.
 */
function scheduledEnv(env: Env): NodeJS.ProcessEnv {
  if (ON_WINDOWS) return childEnv(env);
  const named = Object.fromEntries(Object.entries(env).filter(([name]) => ['HOME', 'LOGNAME', 'USER'].includes(name)));
  return { ...named, ...ownHome() };
}

function ownHome(): { HOME?: string } {
  try {
    return { HOME: userInfo().homedir };
  } catch {
    return {}; // A user that the system does not list has none of his own.
  }
}

export async function sendHeartbeat(script: string, env: Env, signal: AbortSignal): Promise<void> {
  const [program, args] = ON_WINDOWS
    ? ['powershell.exe', ['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', script]]
    : ['/bin/sh', [script]];
  try {
    await promisify(execFile)(program, args, { env: scheduledEnv(env), timeout: MOST_MS, windowsHide: true, signal });
  } catch (error) {
    if (signal.aborted) throw new AgentFailure('cancelled', 'cancelled', { cause: error });
    const { code, stderr = '' } = error as { code?: unknown; stderr?: string };
    const transient = typeof code === 'number' && TRANSIENT.has(code);
    const why = stderr.trim() || (error as Error).message;
    throw new AgentFailure(transient ? 'transient' : 'error', `the test heartbeat failed: ${why}`, { cause: error });
  }
}
