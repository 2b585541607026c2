/** What one upload may cost. Sizes are bytes, times milliseconds. */
export const LIMITS = {
  /** Of a bundle. A build with a thousand scripts has two thousand. */
  files: 10_000,
  directory: 4 * 1024 * 1024,
  manifest: 8 * 1024 * 1024,
  /** Of a map, unpacked. The maps of the largest applications have some 30 MiB. */
  map: 48 * 1024 * 1024,
  /** Of a script whose functions are read: its syntax tree takes some eighty times as much. */
  script: 3 * 1024 * 1024,
  /** Maps, unpacked, that stay at hand. */
  cached: 64 * 1024 * 1024,
  /** One question, from its start in the thread. */
  runMs: 5_000,
  /** Of an owner, in each minute. */
  shareMs: 20_000,
  /** Questions of one owner that wait. */
  waiting: 200,
  /** Heap of the thread, in MiB. */
  heapMb: 640,
  idleMs: 60_000,
} as const;
