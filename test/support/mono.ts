/**
 * Programs that Mono runs. Its runtime dies by a signal once in some thousand runs (6.8 in Debian, under load), whatever it
 * runs, its own compiler included. Managed code cannot do that, so it says nothing about the program: it is run again. What the
 * program does itself, its exit code included, stays as it is.
 */
const SIGNALS = new Set(['SIGABRT', 'SIGSEGV']);
const TRIES = 3;

/** @throws what the last run threw */
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
