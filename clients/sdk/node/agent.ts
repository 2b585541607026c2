/**
 * The license key is passed by the environment, because all users of a machine can read command
 * lines (contract 90, update agent; SDK: `launchAgent`).
 */
import { spawn } from 'node:child_process';
import type { ClientContext } from '../context.js';
import { getErrorText } from '../transport.js';
import type { ServiceProblem } from '../verdict.js';

export interface AgentOptions {
  path: string;
  /** Default: chosen by the agent. */
  dir?: string;
  channel?: string;
  currentVersion?: string;
  /** Restarts the application. Default: true. */
  restart?: boolean;
  waitForPid?: number;
  requireSigned?: boolean;
  /** Further options of the agent, such as `--allow-http`. */
  args?: readonly string[];
}

export interface AgentLaunched {
  launched: boolean;
  pid?: number;
  error?: ServiceProblem;
}

/** The application should then exit. */
export function launchAgent(
  { server, project, licenseKey }: ClientContext,
  options: AgentOptions,
): Promise<AgentLaunched> {
  const { path, dir, channel, currentVersion, restart = true, waitForPid = process.pid, requireSigned } = options;
  const named = { server: server.href, project, dir, channel, 'current-version': currentVersion };
  const args = [
    ...Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, value])),
    '--action',
    'update',
    '--wait-for-pid',
    `${waitForPid}`,
    ...(restart ? ['--restart'] : []),
    ...(requireSigned === true ? ['--require-signed'] : []),
    ...(options.args ?? []),
  ];
  const env = { ...process.env, ...(licenseKey !== null && { SVC_PRODUCT_KEY: licenseKey }) };
  return new Promise((resolve) => {
    const failed = (error: unknown): void =>
      resolve({ launched: false, error: { code: 'agent', message: getErrorText(error) } });
    try {
      const child = spawn(path, args, { env, cwd: dir, detached: true, stdio: 'ignore', windowsHide: true });
      child.on('error', failed);
      child.on('spawn', () => resolve({ launched: true, pid: child.pid }));
      child.unref();
    } catch (error) {
      failed(error);
    }
  });
}
