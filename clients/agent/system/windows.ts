/** What the agent asks of Windows by its own tools. */
import { join } from 'node:path';
import { childEnv } from './environment.js';
import { runProgram } from './programs.js';

/** The tools of Windows, with an environment that holds no secret of the agent. */
export const run = (program: string, args: string[]): Promise<{ stdout: string }> =>
  runProgram(program, args, childEnv(process.env));
export const system32 = (program: string): string => join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', program);

/** Whether this process is an elevated administrator's. */
export const isElevated = (): Promise<boolean> =>
  run(system32('net.exe'), ['session']).then(
    () => true,
    () => false,
  );

/** The file is readable by its user and the system alone. */
export async function keepToOwner(path: string): Promise<void> {
  const user = `${process.env.USERDOMAIN ?? '.'}\\${process.env.USERNAME ?? ''}`;
  await run(system32('icacls.exe'), [path, '/inheritance:r', '/grant:r', `${user}:F`, '*S-1-5-18:F']);
}
