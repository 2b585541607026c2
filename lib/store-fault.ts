/**
 * Whether a store was away, full or read-only, told by the names of its errors: plugins may throw their own with one as
 * the cause.
 */
const NAMES = new Set(['StoreUnavailable', 'StoreFull', 'DiskFull', 'DiskUnwritable']);
/** Causes that are looked at, the error itself included. */
const DEPTH = 5;

export function isStoreFault(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < DEPTH && error instanceof Error; depth++) {
    if (NAMES.has(error.name)) return true;
    error = error.cause;
  }
  return false;
}
