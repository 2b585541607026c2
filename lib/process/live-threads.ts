/**
 * Terminating the embedded store's thread during a native call aborts the process (exit 134), so it
 * must end before.
 */

interface Thread {
  once(event: 'exit', told: () => void): unknown;
}

const liveThreads = new Map<Thread, () => void>();

/**
 * Registers a thread until it ends.
 * @param ask may be called repeatedly, also while the thread ends
 */
export function registerLiveThread(thread: Thread, ask: () => void): void {
  liveThreads.set(thread, ask);
  thread.once('exit', () => liveThreads.delete(thread));
}

/** Resolves when all have ended, or after `ms`. */
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
