import { join } from 'node:path';
import { buildChildEnv } from './environment.js';
import { runProgram } from './programs.js';

export const runWindowsTool = (program: string, args: string[]): Promise<{ stdout: string }> =>
  runProgram(program, args, buildChildEnv(process.env));
export const getSystemPath = (program: string): string =>
  join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', program);

export const isElevated = (): Promise<boolean> =>
  runWindowsTool(getSystemPath('net.exe'), ['session']).then(
    () => true,
    () => false,
  );

export async function restrictToOwner(path: string): Promise<void> {
  const user = `${process.env.USERDOMAIN ?? '.'}\\${process.env.USERNAME ?? ''}`;
  await runWindowsTool(getSystemPath('icacls.exe'), [path, '/inheritance:r', '/grant:r', `${user}:F`, '*S-1-5-18:F']);
}
