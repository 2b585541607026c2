/**
 * How a test calls the small clients of clients/python and clients/csharp: the same calls, the same
 * results.
 */
import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { projectRoot } from '../../../architecture/tree.js';
import { retryOnMonoCrash } from '../../../support/mono-retry.js';
import { runAndGetOutput } from '../../../support/programs.js';
import { isAvailable } from '../../../support/requirements.js';

const ROOT = projectRoot();
const DRIVERS = join(ROOT, 'test', 'e2e', 'clients', 'small');
const LIMIT_MS = 60_000;

export interface Call {
  client?: Record<string, unknown>;
  method: string;
  args: Record<string, unknown>;
}
export type Result = Record<string, unknown>;
type Running = ChildProcessByStdio<Writable, Readable, null>;

/** A program that answers each line of calls with a line of their results. */
export class Driver {
  #standing: Running | null = null;

  constructor(
    private readonly program: string,
    private readonly args: readonly string[],
    private readonly unlessItDies: <T>(run: () => Promise<T>) => Promise<T> = (run) => run(),
    private readonly env: NodeJS.ProcessEnv = process.env,
  ) {}

  /** The same program in a mount namespace where the system has no machine id. */
  hidden(env: Record<string, string>): Driver {
    const args = [...HIDE_MACHINE_ID, this.program, ...this.args];
    return new Driver('unshare', args, this.unlessItDies, { ...process.env, ...env });
  }

  /** In a process that stays: a start of one costs more than all that it is asked here. */
  call(calls: readonly Call[]): Promise<Result[]> {
    return this.unlessItDies(() => this.#ask((this.#standing ??= this.#start()), calls));
  }

  /** In a process of their own: what a client has kept for them lies on the disk. */
  anew(calls: readonly Call[]): Promise<Result[]> {
    return this.unlessItDies(async () => {
      const child = this.#start();
      const results = await this.#ask(child, calls);
      child.stdin.end();
      return results;
    });
  }

  end(): void {
    this.#standing?.kill();
  }

  #start(): Running {
    return spawn(this.program, this.args, { stdio: ['pipe', 'pipe', 'inherit'], env: this.env });
  }

  #ask(child: Running, calls: readonly Call[]): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: child.stdout });
      const limit = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS);
      const ended = (code: number | null, signal: string | null): void => {
        clearTimeout(limit);
        if (child === this.#standing) this.#standing = null;
        reject(Object.assign(new Error(`${this.program} exited with ${code ?? signal}`), { signal }));
      };
      child.once('error', reject);
      child.once('exit', ended);
      lines.once('line', (line) => {
        clearTimeout(limit);
        child.off('exit', ended);
        child.off('error', reject);
        lines.close();
        resolve(JSON.parse(line) as Result[]);
      });
      child.stdin.write(`${JSON.stringify({ calls })}\n`);
    });
  }
}

const HIDE_MACHINE_ID = [
  '--mount',
  'sh',
  '-c',
  'for file in /etc/machine-id /var/lib/dbus/machine-id; do [ ! -e "$file" ] || mount --bind /dev/null "$file"; done; exec "$@"',
  'sh',
];

/** Whether this user may make a mount namespace. */
export const canHideMachineId = (): boolean =>
  spawnSync('unshare', [...HIDE_MACHINE_ID, 'true'], { stdio: 'ignore' }).status === 0;

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** A program to call a client with; null: this machine has none for the language. */
export const LANGUAGES: Readonly<Record<string, (dir: string) => Promise<Driver | null>>> = {
  Python: async () => (has('python3') ? new Driver('python3', [join(DRIVERS, 'driver.py')]) : null),
  'C#': async (dir) => {
    if (!isAvailable('csharp', has('mcs') && has('mono'))) return null;
    const program = join(dir, 'driver.exe');
    const sources = [join(ROOT, 'clients', 'csharp', 'AosClient.cs'), join(DRIVERS, 'Driver.cs')];
    const compile = ['-debug', '-warnaserror', '-r:System.Numerics', `-out:${program}`, ...sources];
    await retryOnMonoCrash(() => runAndGetOutput('mcs', compile, { cwd: dir }));
    return new Driver('mono', ['--debug', program], retryOnMonoCrash);
  },
};
