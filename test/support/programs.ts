import { spawn, spawnSync } from 'node:child_process';

export interface ProgramResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export function buildCleanEnv(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^(SVC_|npm_(?!config_))/.test(name));
  return { ...Object.fromEntries(own), ...extra };
}

/** Reduces JIT work, which does not pay off for short runs. */
export const SHORT_RUN_JAVA_OPTIONS = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** Reduces V8's optimization of short runs. Later versions do not support the option. */
export const SHORT_RUN_NODE_OPTIONS = process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [];

/** Longer than any program of a test takes on a slow, busy machine. */
const DEFAULT_TIMEOUT_MS = 150_000;

export interface ProgramOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  /** A program that exceeds it has hung, and the test reports that instead of its own timeout. */
  limitMs?: number;
}

/**
 * A program hangs while a child holds its output, so the whole process group is inspected and ended
 * at the limit. Node itself may hang on exit while a thread's compiler waits for the main thread.
 * @throws at the limit, with the running processes and all output
 */
export function run(
  program: string,
  args: readonly string[],
  { cwd, env = buildCleanEnv(), limitMs = DEFAULT_TIMEOUT_MS }: ProgramOptions,
): Promise<ProgramResult> {
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
      const running = describeGroup(group);
      endGroup(group);
      child.stdout.destroy();
      child.stderr.destroy();
      const reported = `${program} ${args.join(' ')} ${itself} after ${limitMs / 1000} s; still running:\n${running}`;
      hung = new Error(`${reported}\nprinted:\n${stdout}${stderr}`);
    }, limitMs);
    child.on('exit', (code, signal) => (itself = `exited with ${code ?? signal}, a program that it started had not`));
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

function describeGroup(group: number): string {
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

/**
 * Runs a program and returns its standard output.
 * @throws when it fails, with all output
 */
export async function runAndGetOutput(...call: Parameters<typeof run>): Promise<string> {
  const { code, signal, stdout, stderr } = await run(...call);
  const failed = `${call[0]} ${call[1].join(' ')} → ${code ?? signal}\n${stdout}${stderr}`;
  if (code !== 0) throw Object.assign(new Error(failed), { signal });
  return stdout;
}
