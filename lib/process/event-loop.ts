/** Lets timers and sockets run before the caller goes on. Long loops call it between two chunks of work. */
export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
