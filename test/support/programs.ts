/** Programs that a test runs to their end, in a folder of its choice. */
import { spawn, spawnSync } from 'node:child_process';

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

/** A program of Java that works for seconds optimizes for minutes to come: without that it takes half of the time. */
export const SHORT_JAVA = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/**
 * Most of what a program of Node does in its first second is done once, and V8 optimizes it for more: without that it
 * takes a third less processor time. Later versions do not know the option.
 */
export const SHORT_NODE = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [];

/** No program of a test takes so long by itself, beside others on a slow machine. */
const LIMIT_MS = 150_000;

export interface Where {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** A program that has not ended by then hangs, and its test says so instead of running into its own limit. */
  limitMs?: number;
}

/**
 * A program hangs as long as one of its own holds the output that it was given, so the whole group is looked at, and
 * ended, at the limit. (Node itself may stand still as it exits, when the compiler of a thread waits for the main one.)
 *
 * @throws at the limit, with what was still running and all that was printed
 */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = cleanEnv(), limitMs = LIMIT_MS }: Where,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let stdout = '';
    let stderr = '';
    let itself = 'had not ended';
    let hung: Error | undefined;
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
    const limit = setTimeout(() => {
      const group = child.pid ?? 0;
      const running = runningIn(group);
      endGroup(group);
      child.stdout.destroy();
      child.stderr.destroy();
      const told = `${program} ${args.join(' ')} ${itself} after ${limitMs / 1000} s; still running:\n${running}`;
      hung = new Error(`${told}\nprinted:\n${stdout}${stderr}`);
    }, limitMs);
    child.on('exit', (code, signal) => (itself = `ended with ${code ?? signal}, a program that it started had not`));
    child.on('error', (error) => {
      clearTimeout(limit);
      reject(error);
    });
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      if (hung === undefined) resolve({ code, signal, stdout, stderr });
      else reject(hung);
    });
  });
}

/** A line for each program of a group: its id, age, state, processor time, what its main thread waits for, its call. */
function runningIn(group: number): string {
  const columns = 'pgid=,pid=,etime=,stat=,time=,wchan:24=,args=';
  const { stdout } = spawnSync('ps', ['-eo', columns, '-ww'], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => Number.parseInt(line, 10) === group)
    .join('\n');
}

function endGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Its standard output. @throws when it fails, with everything that it said */
export async function done(...call: Parameters<typeof run>): Promise<string> {
  const { code, signal, stdout, stderr } = await run(...call);
  const failed = `${call[0]} ${call[1].join(' ')} → ${code ?? signal}\n${stdout}${stderr}`;
  if (code !== 0) throw Object.assign(new Error(failed), { signal });
  return stdout;
}
