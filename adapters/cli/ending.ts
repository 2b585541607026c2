/**
 * Ends the process. Everything is closed in order first, but what does not close (a plugin's timer,
 * a hanging connection) must not keep the process alive (contract 95: exit codes, shutdown).
 */
import { endLiveThreads } from '../../lib/process/live-threads.js';
import { EXIT } from './output.js';

/** From the first signal to the exit; requests and jobs have 10 s each to finish. */
const SIGNAL_MS = 15_000;
const ANSWERED_MS = 500;
const THREADS_MS = 5_000;
export const LOST_MS = 2_000;

/**
 * Resolves at the first SIGTERM or SIGINT. A second one, or 15 s, ends the process with exit code
 * 1.
 */
export function stopSignal(): Promise<void> {
  let asked = false;
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (asked) {
          void endNow(EXIT.error);
          return;
        }
        asked = true;
        endWithin(SIGNAL_MS);
        resolve();
      });
    }
  });
}

const OUTPUTS = [process.stdout, process.stderr];

/** Ignores closed pipes (`aos … | head -1`), because the command has already done its work. */
export function outliveReaders(): void {
  for (const stream of OUTPUTS) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/**
 * Ignores all further errors of standard output and error, such as a full disk. Replaces
 * `ignoreClosedReaders`.
 */
export function outliveOutputs(): void {
  for (const stream of OUTPUTS) stream.removeAllListeners('error').on('error', () => undefined);
}

export function endWithin(ms: number): void {
  setTimeout(() => void endNow(EXIT.error), ms).unref();
}

export function endSoon(): void {
  setTimeout(() => void endNow(), ANSWERED_MS).unref();
}

/**
 * @param code defaults to the process's exit code, which `process.exit(undefined)` would reset to 0
 */
async function endNow(code = process.exitCode): Promise<never> {
  await endLiveThreads(THREADS_MS);
  return process.exit(code);
}
