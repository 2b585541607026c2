/** A promise cannot be canceled, so a late result is passed to `late`. */
export class TimedOut extends Error {
  override name = 'TimedOut';
}

/**
 * Throws TimedOut after `ms`.
 * @param late receives a late outcome: a value to release, or an error to log
 */
export async function runWithTimeout<T>(
  ms: number,
  what: string,
  work: () => T | Promise<T>,
  late: (outcome: PromiseSettledResult<T>) => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  const running = (async () => work())();
  const limit = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      over = true;
      reject(new TimedOut(`${what} took longer than ${ms} ms`));
    }, ms);
  });
  void running.then(
    (value) => over && late({ status: 'fulfilled', value }),
    (reason: unknown) => over && late({ status: 'rejected', reason }),
  );
  try {
    return await Promise.race([running, limit]);
  } finally {
    clearTimeout(timer);
  }
}
