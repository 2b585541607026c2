/**
 * Manages the scheduled task of a machine's script on Windows (contract 60, agent), built locally
 * and replaced by name.
 */
import { AgentFailure } from '../exit.js';
import { isElevated, runWindowsTool, getSystemPath } from '../system/windows.js';

export const TASK_EXPRESSION_PATTERN = /^\/SC (MINUTE|HOURLY) \/MO [1-9]\d{0,3}$|^\/SC DAILY$/;

const buildTaskName = (source: string): string => `aos-${source.replaceAll(/[/:]/g, '-')}`;

/** Elevated, it runs as the system, also while no one is logged on. */
export async function createScheduledTask(expression: string, script: string, source: string): Promise<void> {
  const command = `powershell.exe -NoProfile -ExecutionPolicy Bypass -File "${script}" -Jitter`;
  const as = (await isElevated()) ? ['/RU', 'SYSTEM'] : [];
  const args = ['/Create', '/F', '/TN', buildTaskName(source), ...expression.split(' '), '/TR', command, ...as];
  try {
    await runWindowsTool(getSystemPath('schtasks.exe'), args);
  } catch (error) {
    const stderrText = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
    throw new AgentFailure('error', `the task was not created: ${stderrText || (error as Error).message}`, {
      cause: error,
    });
  }
}
