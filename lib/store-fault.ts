/** By name, because plugins may wrap or rethrow them. */
const FAULT_NAMES = new Set(['StoreUnavailable', 'StoreFull', 'DiskFull', 'DiskUnwritable']);
const MAX_CAUSE_DEPTH = 5;

export function isStoreFault(thrown: unknown): boolean {
  let error = thrown;
  for (let depth = 0; depth < MAX_CAUSE_DEPTH && error instanceof Error; depth++) {
    if (FAULT_NAMES.has(error.name)) return true;
    error = error.cause;
  }
  return false;
}
