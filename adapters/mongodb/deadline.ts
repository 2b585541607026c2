/** A deadline for what the driver may never end. */

/** The server did not answer in time, and the driver did not say so. */
export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** @throws DeadlinePassed when the time is over first; what `work` comes to later is not looked at */
export function within<V>(ms: number, work: Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlinePassed(ms)), ms);
    const stop = (): void => clearTimeout(timer);
    work.finally(stop).then(resolve, reject);
  });
}
