/** Work of a plugin for a page that must not keep the page waiting. */

/** The outcome, or an error when it takes longer than `ms`. What comes later is dropped. */
export function withTimeout<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`took longer than ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
