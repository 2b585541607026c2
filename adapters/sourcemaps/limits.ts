/** What one upload may cost. Sizes are bytes, times milliseconds. */
export const LIMITS = {
  /** Of a bundle. A build with a thousand scripts has two thousand. */
  files: 10_000,
  directory: 4 * 1024 * 1024,
  manifest: 8 * 1024 * 1024,
  manifestValues: 300_000,
  /** Of a map, unpacked. The maps of the largest applications have some 30 MiB. */
  map: 48 * 1024 * 1024,
  /** In a map: texts, numbers, lists and objects; lists within lists; and elements of its lists. */
  values: 2_500_000,
  depth: 64,
  sources: 100_000,
  names: 1_000_000,
  /** Of a name, and of a source's address. */
  name: 16_384,
  sections: 10_000,
  /** Of a script whose functions are read. */
  script: 16 * 1024 * 1024,
  functions: 500_000,
  /** Nodes of its syntax that are held at a time. */
  heldNodes: 400_000,
  lines: 1_000_000,
  /** What maps hold that stay at hand. */
  cached: 64 * 1024 * 1024,
  /** Processor time of one job; of it, for the functions of the script. */
  jobMs: 20_000,
  scriptMs: 10_000,
  /** Processor time of an owner, in each minute. */
  shareMs: 20_000,
  /** The reader is ended when it does not answer at all. */
  silentMs: 60_000,
  /** Questions of one owner that wait. */
  waiting: 200,
  /** Heap of the reader, in MiB. */
  heapMb: 160,
  idleMs: 60_000,
} as const;
