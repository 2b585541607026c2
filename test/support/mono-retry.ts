/**
 * Retries programs on Mono, whose runtime occasionally dies by a signal (6.8 in Debian, under
 * load). Managed code cannot cause this. The program's own failures, including its exit code, are
 * not retried.
 */
const CRASH_SIGNALS = new Set(['SIGABRT', 'SIGSEGV']);
const MAX_ATTEMPTS = 3;

/** @throws the error of the last run */
export async function retryOnMonoCrash<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      const { signal } = error as { signal?: string | null };
      if (tries === MAX_ATTEMPTS || !CRASH_SIGNALS.has(signal ?? '')) throw error;
      console.error(`      Mono died of ${signal}: once more`);
    }
  }
}
