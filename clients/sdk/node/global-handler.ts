/**
 * What nobody caught, written to disk before the process ends as it would without us (contract 90, SDK, global
 * handler): the monitor sees uncaught exceptions and unhandled rejections, and changes nothing of what Node does about
 * them.
 */

/** @returns a function that takes the handler away */
export function onUncaught(keep: (thrown: unknown) => void): () => void {
  const monitor = (thrown: unknown): void => {
    try {
      keep(thrown);
    } catch {
      // A second exception here would hide the first from its owner.
    }
  };
  process.on('uncaughtExceptionMonitor', monitor);
  return () => void process.off('uncaughtExceptionMonitor', monitor);
}
