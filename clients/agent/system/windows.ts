import { join } from 'node:path';
import { childEnv } from './environment.js';
import { runProgram } from './programs.js';

export const run = (program: string, args: string[]): Promise<{ stdout: string }> =>
  runProgram(program, args, childEnv(process.env));
export const system32 = (program: string): string => join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', program);

export const isElevated = (): Promise<boolean> =>
  run(system32('net.exe'), ['session']).then(
    () => true,
    () => false,
  );

export async function keepToOwner(path: string): Promise<void> {
  const user = `${process.env.USERDOMAIN ?? '.'}\\${process.env.USERNAME ?? ''}`;
  await run(system32('icacls.exe'), [path, '/inheritance:r', '/grant:r', `${user}:F`, '*S-1-5-18:F']);
}
