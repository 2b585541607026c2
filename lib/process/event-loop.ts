export const yieldToEventLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
