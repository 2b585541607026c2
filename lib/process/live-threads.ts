/**
 * Threads that must not be at work when the process ends. The driver of the embedded store is native code that aborts
 * the whole process (exit 134) when its thread is taken away in the middle of a call, so whoever ends the process asks
 * them to end first.
 */

/** What this needs of a worker of `node:worker_threads`. */
interface Thread {
  once(event: 'exit', told: () => void): unknown;
}

/** Thread → asks it to end after what it does now. */
const live = new Map<Thread, () => void>();

/** Until the thread ends. @param ask it may be asked more than once, and when it is about to end */
export function registerLiveThread(thread: Thread, ask: () => void): void {
  live.set(thread, ask);
  thread.once('exit', () => live.delete(thread));
}

/** Asks all to end. Resolves when they have, or after `ms`. */
export async function endLiveThreads(ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  const ended = [...live].map(([thread, ask]) => {
    const exit = new Promise<void>((resolve) => thread.once('exit', resolve));
    ask();
    return exit;
  });
  await Promise.race([Promise.all(ended), limit]);
  clearTimeout(timer);
}
