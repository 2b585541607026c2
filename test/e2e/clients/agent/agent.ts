/** Runs the real agent as a process of its own; test/clients/agent/agent.ts has what needs none. */
import { spawn } from 'node:child_process';
import { AROUND, MAIN, type Ran } from '../../../clients/agent/agent.js';
import { resolveProgram } from '../../../support/bundled-programs.js';

export {
  install,
  MAIN,
  offlinePackage,
  remove,
  runAlike,
  runHere,
  scratch,
  treeOf,
  type Ran,
} from '../../../clients/agent/agent.js';

/** The same program with hooks that stop it. */
export const FAULTY = resolveProgram('test/e2e/clients/agent/faulty.js', 'faulty-agent.cjs');

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  program?: string;
  uid?: number;
  gid?: number;
  /** Is given the process when it has started. */
  started?: (pid: number, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Nothing of this test's own environment reaches it. */
export function runAgent(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, cwd, program = MAIN, uid, gid } = options;
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...AROUND, ...env },
    cwd,
    uid,
    gid,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.on('data', (piece: Buffer) => (texts.stdout += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => (texts.stderr += piece.toString()));
  if (child.pid !== undefined) options.started?.(child.pid, (signal) => child.kill(signal));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }));
  });
}
