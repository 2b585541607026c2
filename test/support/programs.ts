/** Programs that a test runs to their end, in a folder of its choice. */
import { spawn } from 'node:child_process';

export interface Ended {
  code: number | null;
  /** What ended it, when it did not end itself. */
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Nothing of the caller's `SVC_` settings and of npm's own comes along. */
export function cleanEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(SVC_|npm_(?!config_))/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

export function run(
  program: string,
  args: readonly string[],
  { cwd, env = cleanEnv() }: { cwd: string; env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
  });
}

/** Its standard output. @throws when it fails, with everything that it said */
export async function done(...call: Parameters<typeof run>): Promise<string> {
  const { code, signal, stdout, stderr } = await run(...call);
  const failed = `${call[0]} ${call[1].join(' ')} → ${code ?? signal}\n${stdout}${stderr}`;
  if (code !== 0) throw Object.assign(new Error(failed), { signal });
  return stdout;
}
