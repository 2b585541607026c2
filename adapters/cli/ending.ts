/**
 * How a process ends that should. Everything is closed in order first; what does not close (a plugin's own timer, a
 * connection that hangs) must not keep the process alive (contract 95: exit codes, shutdown).
 */
import { endLiveThreads } from '../../lib/process/live-threads.js';
import { EXIT } from './output.js';

/** From the first signal to the end, whatever is still under way: requests and jobs have 10 s each to finish. */
const SIGNAL_MS = 15_000;
/** After the answer was printed. */
const ANSWERED_MS = 500;
/** For threads of the store to finish what they do: past it the process ends whatever they do. */
const THREADS_MS = 5_000;
/** For the parts to end without their store. */
export const LOST_MS = 2_000;

/** Resolves at the first SIGTERM or SIGINT. A second one, or 15 s, ends the process with exit 1. */
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

/**
 * What nobody reads any longer (`aos … | head -1`) is dropped: by then the command has done its work, and its exit code
 * says so.
 */
export function outliveReaders(): void {
  for (const stream of OUTPUTS) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}

/** Ignores all further failures of standard output and error, such as a full disk. Replaces `outliveReaders`. */
export function outliveOutputs(): void {
  for (const stream of OUTPUTS) stream.removeAllListeners('error').on('error', () => undefined);
}

/** With exit 1, when the process has not ended by itself by then. */
export function endWithin(ms: number): void {
  setTimeout(() => void endNow(EXIT.error), ms).unref();
}

/** Ends the process soon when it does not end by itself. */
export function endSoon(): void {
  setTimeout(() => void endNow(), ANSWERED_MS).unref();
}

/** @param code that of the process where none is given, which `process.exit(undefined)` would make 0 */
async function endNow(code = process.exitCode): Promise<never> {
  await endLiveThreads(THREADS_MS);
  return process.exit(code);
}
