import type { Collection, Doc, Filter } from './index.js';

const MAX_REMOVED_PER_BATCH = 500;

/** Removes matches in small batches, sparing other writes. Returns their number. */
export async function removeAll<T extends Doc>(
  rows: Pick<Collection<T>, 'remove'>,
  filter: Filter,
  signal?: AbortSignal,
): Promise<number> {
  let n = 0;
  let removed = MAX_REMOVED_PER_BATCH;
  while (removed === MAX_REMOVED_PER_BATCH) {
    if (signal?.aborted === true) break;
    removed = await rows.remove(filter, MAX_REMOVED_PER_BATCH);
    n += removed;
  }
  return n;
}
