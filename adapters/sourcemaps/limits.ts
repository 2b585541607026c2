/** Limits of one upload. Sizes in bytes, times in milliseconds. */
export const UPLOAD_LIMITS = {
  /** Files of a bundle. A build with a thousand scripts has two thousand. */
  files: 10_000,
  directory: 4 * 1024 * 1024,
  manifest: 8 * 1024 * 1024,
  manifestValues: 300_000,
  /** Unpacked map. */
  map: 48 * 1024 * 1024,
  /** Values of a map; their nesting; list elements. */
  values: 2_500_000,
  depth: 64,
  sources: 100_000,
  names: 1_000_000,
  name: 16_384,
  sections: 10_000,
  script: 16 * 1024 * 1024,
  functions: 500_000,
  heldNodes: 400_000,
  lines: 1_000_000,
  cached: 64 * 1024 * 1024,
  jobMs: 20_000,
  scriptMs: 10_000,
  /** CPU time per owner and minute. */
  shareMs: 20_000,
  silentMs: 60_000,
  waiting: 200,
  heapMb: 160,
  idleMs: 60_000,
} as const;
