/**
 * Retries programs on Mono, whose runtime occasionally dies by a signal (6.8 in Debian, under
 * load). Managed code cannot cause this. The program's own failures, including its exit code, are
 * not retried.
 */
const SIGNALS = new Set(['SIGABRT', 'SIGSEGV']);
const TRIES = 3;

/** @throws the error of the last run */
export async function unlessMonoDies<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      const { signal } = error as { signal?: string | null };
      if (tries === TRIES || !SIGNALS.has(signal ?? '')) throw error;
      console.error(`      Mono died of ${signal}: once more`);
    }
  }
}
