/**
 * Everything is closed in order first, but what does not close (a plugin's timer, a hanging
 * connection) must not keep the process alive (contract 95: exit codes, shutdown).
 */
import { endLiveThreads } from '../../lib/process/live-threads.js';
import { EXIT_CODES } from './output.js';

/** From the first signal to the exit; requests and jobs have 10 s each to finish. */
const SIGNAL_TIMEOUT_MS = 15_000;
const EXIT_GRACE_MS = 500;
const THREADS_TIMEOUT_MS = 5_000;
export const STORE_LOST_TIMEOUT_MS = 2_000;

/** A second one, or 15 s, ends the process with exit code 1. */
export function waitForStopSignal(): Promise<void> {
  let isStopping = false;
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) {
      process.on(name, () => {
        if (isStopping) {
          void exitNow(EXIT_CODES.error);
          return;
        }
        isStopping = true;
        exitWithin(SIGNAL_TIMEOUT_MS);
        resolve();
      });
    }
  });
}

const OUTPUT_STREAMS = [process.stdout, process.stderr];

/** Ignores closed pipes (`aos … | head -1`), because the command has already done its work. */
export function ignoreClosedReaders(): void {
  for (const stream of OUTPUT_STREAMS) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** Ignores all further errors of standard output and error, such as a full disk. */
export function ignoreOutputErrors(): void {
  for (const stream of OUTPUT_STREAMS) stream.removeAllListeners('error').on('error', () => undefined);
}

export function exitWithin(ms: number): void {
  setTimeout(() => void exitNow(EXIT_CODES.error), ms).unref();
}

export function exitSoon(): void {
  setTimeout(() => void exitNow(), EXIT_GRACE_MS).unref();
}

/** @param code `process.exit(undefined)` would reset it to 0 */
async function exitNow(code = process.exitCode): Promise<never> {
  await endLiveThreads(THREADS_TIMEOUT_MS);
  return process.exit(code);
}
