/** The scheduled task of a machine's script on Windows (contract 60, agent): built here, replaced by its name. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childEnv } from '../environment.js';
import { Failure } from '../exit.js';

/** Options of `schtasks /Create`. */
export const TASK_EXPRESSION = /^\/SC (MINUTE|HOURLY) \/MO [1-9]\d{0,3}$|^\/SC DAILY$/;

/** The tools of Windows, with an environment that holds no secret of the agent. */
const run = (program: string, args: string[]): Promise<{ stdout: string }> =>
  promisify(execFile)(program, args, { windowsHide: true, env: childEnv(process.env) });
const system32 = (program: string): string => join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', program);

/** Its name may hold no slash and no colon. */
const taskName = (source: string): string => `aos-${source.replaceAll(/[/:]/g, '-')}`;

/** Whether this process is an elevated administrator's. */
export const isElevated = (): Promise<boolean> =>
  run(system32('net.exe'), ['session']).then(
    () => true,
    () => false,
  );

/** Elevated, the system runs it, so that it runs while nobody is logged on. */
export async function writeTask(expression: string, script: string, source: string): Promise<void> {
  const command = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File "${script}" -Jitter`;
  const as = (await isElevated()) ? ['/RU', 'SYSTEM'] : [];
  const args = ['/Create', '/F', '/TN', taskName(source), ...expression.split(' '), '/TR', command, ...as];
  try {
    await run(system32('schtasks.exe'), args);
  } catch (error) {
    const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new Failure('error', `the task was not created: ${said || (error as Error).message}`, { cause: error });
  }
}

/** The file is readable by its user and the system alone. */
export async function keepToOwner(path: string): Promise<void> {
  const user = `${process.env.USERDOMAIN ?? '.'}\\${process.env.USERNAME ?? ''}`;
  await run(system32('icacls.exe'), [path, '/inheritance:r', '/grant:r', `${user}:F`, '*S-1-5-18:F']);
}
