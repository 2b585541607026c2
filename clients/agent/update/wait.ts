import { setTimeout as sleep } from 'node:timers/promises';
import { AgentFailure } from '../exit.js';
import { getStartTime, isRunning, isZombie } from '../system/processes.js';

const POLL_INTERVAL_MS = 100;

/** Resolves when the process has ended; a later process with the same id is not waited for. */
export async function waitForProcess(pid: number, seconds: number, signal: AbortSignal): Promise<void> {
  if (!(await waitForEnd(pid, seconds, signal)))
    throw new AgentFailure('waitTimedOut', `process ${pid} did not exit within ${seconds} s`);
}

export async function waitForEnd(pid: number, seconds: number, signal: AbortSignal): Promise<boolean> {
  const began = await getStartTime(pid);
  const end = performance.now() + seconds * 1000;
  while (isRunning(pid) && !(await isZombie(pid)) && (await getStartTime(pid)) === began) {
    if (performance.now() > end) return false;
    await sleep(POLL_INTERVAL_MS, undefined, { signal });
  }
  return true;
}
