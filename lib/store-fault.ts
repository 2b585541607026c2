/**
 * Detects unavailable, full or read-only stores by error name, because plugins may wrap or rethrow
 * them.
 */
const NAMES = new Set(['StoreUnavailable', 'StoreFull', 'DiskFull', 'DiskUnwritable']);
const DEPTH = 5;

export function isStoreFault(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < DEPTH && error instanceof Error; depth++) {
    if (NAMES.has(error.name)) return true;
    error = error.cause;
  }
  return false;
}
