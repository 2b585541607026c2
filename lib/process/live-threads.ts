/**
 * Threads that must end before the process: the embedded store's native driver aborts it (exit 134)
 * when its thread is terminated during a call.
 */

interface Thread {
  once(event: 'exit', told: () => void): unknown;
}

/** Thread → requests it to end after its current work. */
const liveThreads = new Map<Thread, () => void>();

/**
 * Registers a thread until it ends.
 * @param ask may be called repeatedly, also while the thread ends
 */
export function registerLiveThread(thread: Thread, ask: () => void): void {
  liveThreads.set(thread, ask);
  thread.once('exit', () => liveThreads.delete(thread));
}

/** Ends all threads; resolves when they have, or after `ms`. */
export async function endLiveThreads(ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  const ended = [...liveThreads].map(([thread, ask]) => {
    const exit = new Promise<void>((resolve) => thread.once('exit', resolve));
    ask();
    return exit;
  });
  await Promise.race([Promise.all(ended), limit]);
  clearTimeout(timer);
}
