export class DeadlineExceededError extends Error {
  override name = 'DeadlinePassed';
  constructor(ms: number) {
    super(`no response within ${ms} ms`);
  }
}

/** @throws DeadlinePassed when the deadline expires first; the later result of `work` is ignored */
export function withDeadline<V>(ms: number, work: Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new DeadlineExceededError(ms)), ms);
    const stop = (): void => clearTimeout(timer);
    work.finally(stop).then(resolve, reject);
  });
}
