/** How a test calls the small clients of clients/python and clients/csharp: the same calls, the same results. */
import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../architecture/tree.js';
import { unlessMonoDies } from '../../support/mono.js';
import { done } from '../../support/programs.js';

const ROOT = projectRoot();
const DRIVERS = join(ROOT, 'test', 'clients', 'small');

export interface Call {
  client?: Record<string, unknown>;
  method: string;
  args: Record<string, unknown>;
}
export type Result = Record<string, unknown>;
export type Driver = (calls: readonly Call[]) => Promise<Result[]>;

function ran(program: string, args: readonly string[], input: object): Promise<Result[]> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: 60_000 }, (error, stdout) => {
      if (error === null) resolve(JSON.parse(stdout) as Result[]);
      else reject(error);
    });
    child.stdin?.end(JSON.stringify(input));
  });
}

const has = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** A program to call a client with; null: this machine has none for the language. */
export const LANGUAGES: Readonly<Record<string, (dir: string) => Promise<Driver | null>>> = {
  Python: async () =>
    has('python3')
      ? (calls) =>
          ran(
            'python3',
            [join(DRIVERS, 'driver.py')],
            calls.map((call) => ({ client: {}, ...call })),
          )
      : null,
  'C#': async (dir) => {
    if (!has('mcs') || !has('mono')) return null;
    const program = join(dir, 'driver.exe');
    const sources = [join(ROOT, 'clients', 'csharp', 'AosClient.cs'), join(DRIVERS, 'Driver.cs')];
    const compile = ['-debug', '-warnaserror', '-r:System.Numerics', `-out:${program}`, ...sources];
    await unlessMonoDies(() => done('mcs', compile, { cwd: dir }));
    return (calls) => unlessMonoDies(() => ran('mono', ['--debug', program], { calls }));
  },
};
