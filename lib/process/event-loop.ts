/** Yields to timers and sockets between chunks of long work. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
