/** Stores uncaught errors on disk before the process ends (contract 90, SDK, global handler). */

/** @returns a function that removes the handler */
export function watchUncaught(keep: (thrown: unknown) => void): () => void {
  const monitor = (thrown: unknown): void => {
    try {
      keep(thrown);
    } catch {
      // A second exception here would hide the first.
    }
  };
  process.on('uncaughtExceptionMonitor', monitor);
  return () => void process.off('uncaughtExceptionMonitor', monitor);
}
