export class DeadlinePassed extends Error {
  override name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no answer within ${ms} ms`);
  }
}

/** @throws DeadlinePassed when the deadline expires first; the later result of `work` is ignored */
export function within<V>(ms: number, work: Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlinePassed(ms)), ms);
    const stop = (): void => clearTimeout(timer);
    work.finally(stop).then(resolve, reject);
  });
}
